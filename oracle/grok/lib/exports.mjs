// A session as sessfix exports its messages, against the same as the real client sends it.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PROMPT, ask } from './ask.mjs'
import { sessfix } from './binary.mjs'
import { groupOf, placesIn } from './client.mjs'
import { age, changesOf, settle, treeOf } from './home.mjs'
import { run } from './processes.mjs'
import { HISTORY, idOfSession, recordsIn } from './session.mjs'
import { CWD } from './trial.mjs'

const PROVIDERS = ['openai', 'anthropic']

/** { outcome: 'passed' | 'failed' | 'refused', faults, messages }: how many the client sent. */
export async function exportFaults(binary, source, folder) {
  const places = placesIn(folder)
  await mkdir(places.home, { recursive: true })
  const id = idOfSession(source.healthy ?? source.files)
  const session = join(groupOf(places, CWD), id)
  await settle(source.files, session)
  const end = (faults, messages = 0) => ({ outcome: faults.length > 0 ? 'failed' : 'passed', faults, messages })

  const damaged = await exported(binary, places, session)
  if (!same(await treeOf(session), source.files)) return end(['the export changed the session'])
  const { status, err } = await sessfix(binary, 'repair', places, session)
  if (status === 3) return { outcome: 'refused', faults: [], messages: 0 }
  if (status !== 0) return end([`repair ends with ${status}: ${err}`])
  await age(places.grok)
  const after = await treeOf(session)
  const lists = await exported(binary, places, session)
  const faults = PROVIDERS.flatMap(name => [
    ...lists[name].fault === undefined ? [] : [`${name}: ${lists[name].fault}`],
    // A damaged session is told as a repair would leave it.
    ...lists[name].text === damaged[name].text ? [] : [`${name}: the export of the damaged session is another: ${damaged[name].fault ?? 'other messages'}`],
  ])
  if (faults.length > 0) return end(faults)

  const answer = await ask(places, CWD, id, session)
  if (answer.refused !== undefined) return end([`the client does not go on: ${answer.refused}`])
  if (answer.sent === undefined) return end([`the client sends nothing: ${answer.stopReason}`])
  const sent = said(withoutItsOwn(answer.sent, after))
  return end(PROVIDERS.flatMap(name => differences(said(lists[name].messages), sent).map(fault => `${name}: ${fault}`)), answer.sent.length)
}

/** name -> { text, messages } or { fault }. */
async function exported(binary, places, session) {
  const env = { PATH: process.env.PATH, HOME: places.home, TMPDIR: places.home, NO_COLOR: '1', LANG: 'C.UTF-8', TZ: 'UTC' }
  const out = {}
  for (const name of PROVIDERS) {
    const { status, out: text, err } = await run(binary, ['export', '--format', 'messages', '--provider', name, session], { env, cwd: places.home })
    if (status !== 0) out[name] = { fault: `export ends with ${status}: ${err.replaceAll(/\/\S+\//g, '').slice(0, 300)}` }
    else out[name] = { text, messages: JSON.parse(text) }
  }
  return out
}

const same = (tree, files) => changesOf(files, tree).length === 0

/** The prompt of this check, and reminders that stand in no record. */
function withoutItsOwn(messages, files) {
  const stored = new Set(recordsIn(files, HISTORY).map(({ content }) => textOf(content)))
  return messages.filter(({ role, content }) => {
    const text = textOf(content)
    return role !== 'user' || !(text.includes(PROMPT) || (/^<system-reminder>/.test(text) && !stored.has(text)))
  })
}

/**
 * [{ who, text } | { call, name, input } | { results }]: what is said, in its order. Instructions stand elsewhere. One side makes one message of several, the other does
 * not: words of one speaker are joined. Results that stand together may do so in any order.
 */
export function said(messages) {
  const items = []
  const speak = (who, words) => {
    const text = words.join('\n').replaceAll(/\n+/g, '\n').trim()
    if (text === '') return
    const last = items.at(-1)
    if (last?.who === who) last.text += `\n${text}`
    else items.push({ who, text })
  }
  const answer = (id, content) => {
    if (items.at(-1)?.results === undefined) items.push({ results: {} })
    items.at(-1).results[id] = textOf(content)
  }
  for (const { role, content, tool_calls: calls = [], tool_call_id: answered } of messages) {
    if (role === 'system') continue
    if (role === 'tool') {
      answer(answered, content)
      continue
    }
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content ?? []
    for (const part of parts.filter(({ type }) => type === 'tool_result')) answer(part.tool_use_id, part.content)
    speak(role, parts.flatMap(({ type, text }) => type === 'text' ? text : []))
    for (const { type, source, image_url: at } of parts) if (type === 'image' || type === 'image_url') items.push({ image: at?.url ?? `data:${source.media_type};base64,${source.data}` })
    for (const { type, id, name, input } of parts) if (type === 'tool_use') items.push({ call: id, name, input })
    for (const { id, function: { name, arguments: input } } of calls) items.push({ call: id, name, input: JSON.parse(input) })
  }
  for (const item of items) if (item.results) item.results = Object.entries(item.results).sort(([a], [b]) => a < b ? -1 : 1)
  return items
}

/** The first item in which they differ. */
export function differences(ours, theirs) {
  const n = theirs.findIndex((item, at) => JSON.stringify(item) !== JSON.stringify(ours[at]))
  if (n < 0 && ours.length === theirs.length) return []
  const at = n < 0 ? theirs.length : n
  return [`item ${at}: the client sends ${short(theirs[at])}, the export has ${short(ours[at])}`]
}

function textOf(content) {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.flatMap(({ text }) => text ?? []).join('\n') : ''
}

function short(item) {
  const text = item === undefined ? 'nothing' : JSON.stringify(item)
  return text.length > 200 ? `${text.slice(0, 197)}...` : text
}
