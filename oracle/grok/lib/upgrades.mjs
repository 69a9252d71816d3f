// Lets sessfix bring a session over, and holds what it wrote against what the real client makes of the old one when it opens it.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startApi } from './api.mjs'
import { PROMPT, ask } from './ask.mjs'
import { tell } from './binary.mjs'
import { groupOf, openClient, placesIn } from './client.mjs'
import { inventedFaults, itemsSent, missingFaults, pairingFaults, shownFaults, wantedItems } from './compare.mjs'
import { changesOf, settle, treeOf } from './home.mjs'
import { linesOf } from './lines.mjs'
import { HISTORY, LOG, SUMMARY } from './session.mjs'

const valuesOf = bytes => linesOf(bytes ?? Buffer.alloc(0)).flatMap(({ value }) => value ?? [])

async function install(folder, files) {
  const { id, cwd } = JSON.parse(files.get(SUMMARY)).info
  const places = placesIn(folder)
  await mkdir(places.home, { recursive: true })
  const session = join(groupOf(places, cwd), id)
  await settle(files, session)
  return { places, cwd, id, session, sessions: join(places.grok, 'sessions') }
}

/** A session that must not be brought over. */
export async function refusalFaults(binary, { files }, folder) {
  const { places, session, sessions } = await install(folder, files)
  const start = await treeOf(sessions)
  const { status, err } = await tell(binary, ['migrate', '--json', session], places)
  const changes = changesOf(start, await treeOf(sessions))
  return [...status === 3 ? [] : [`not refused: ${status} ${err}`], ...changes.map(({ name, how }) => `${how} ${name}`)]
}

/** Whether the client loses lines of the history is as `lost` says; where that is undefined it is seen. */
export async function upgradeFaults(binary, { files, lost: expected }, folder) {
  const old = await install(join(folder, 'old'), files)
  const theirs = await ask(old.places, old.cwd, old.id, old.session)
  if (theirs.refused !== undefined) return [`the client does not open the old one: ${theirs.refused}`]

  const lost = expected ?? theirs.loaded.has(`${HISTORY}.corrupt`)
  const { places, cwd, id, session, sessions } = await install(join(folder, 'new'), files)
  const faults = []
  const call = async (...args) => {
    const { status, err, report } = await tell(binary, [...args, '--json', session], places)
    if (status !== 0) faults.push(`${args[0]} ends with ${status}: ${err} ${report?.sessions?.[0]?.refusal ?? ''}`)
  }
  const start = await treeOf(sessions)
  await call('migrate')
  const once = await treeOf(sessions)
  if (faults.length > 0) return faults
  await call('migrate')
  for (const { name, how } of changesOf(once, await treeOf(sessions))) faults.push(`migrated twice: ${how} ${name}`)
  await call('verify')
  await call('undo')
  for (const { name, how } of changesOf(start, await treeOf(sessions))) faults.push(`undone: ${how} ${name}`)
  await call('migrate')
  for (const { name, how } of changesOf(once, await treeOf(sessions))) faults.push(`migrated again: ${how} ${name}`)

  const ours = await treeOf(session)
  faults.push(...historyFaults(ours, theirs.loaded, lost), ...logFaults(files, ours), ...summaryFaults(files, ours, theirs.loaded, lost))
  const answer = await ask(places, cwd, id, session)
  if (answer.refused !== undefined) return [...faults, `the client does not go on: ${answer.refused}`]
  if (answer.sent === undefined) return [...faults, `the client sends nothing: ${answer.stopReason}`]
  const sent = itemsSent(answer.sent)
  faults.push(...pairingFaults(answer.sent), ...inventedFaults(sent, ours, ours), ...missingFaults([...wantedItems(ours), { role: 'user', text: PROMPT }], sent), ...shownFaults(answer.shown, ours, ours))
  if (!lost) {
    const said = messages => JSON.stringify(messages.filter(({ role }) => role !== 'system'))
    if (said(answer.sent) !== said(theirs.sent)) faults.push(`the model is sent something else than of the old one: ${said(answer.sent).slice(0, 300)}`)
  }
  // What the client then writes anew is what sessfix wrote, but for members that it does not know.
  const items = valuesOf(ours.get(HISTORY)).slice(1)
  const again = valuesOf(answer.loaded.get(HISTORY)).slice(1)
  if (items.length !== again.length || !again.every((item, n) => holds(items[n], item))) faults.push('the client writes the history anew in another way')
  if (answer.loaded.has(`${HISTORY}.corrupt`)) faults.push('the client takes lines out of the history')
  return faults
}

/** Files come back in a rewind from points with full paths, and from those that sessfix made of them. */
export async function rewindFaults(binary, { files }, folder) {
  const faults = []
  for (const migrated of [false, true]) {
    const places = placesIn(join(folder, String(migrated)))
    const { id, cwd } = JSON.parse(files.get(SUMMARY)).info
    const lamp = join(places.project, 'lamp.txt')
    await mkdir(places.project, { recursive: true })
    await writeFile(lamp, 'new')
    const session = join(groupOf(places, places.project), id)
    const snapshot = content => ({ [lamp]: { path: lamp, content, captured_at: '2026-06-01T08:00:00Z' } })
    const points = `${JSON.stringify({ prompt_index: 0, created_at: '2026-06-01T08:00:00Z', file_snapshots: snapshot('old'), after_snapshots: snapshot('new') })}\n`
    await settle(new Map([...[...files].map(([name, bytes]) => [name, Buffer.from(bytes.toString('latin1').replaceAll(cwd, places.project), 'latin1')]), ['rewind_points.jsonl', Buffer.from(points)]]), session)
    if (migrated) {
      const { status, err } = await tell(binary, ['migrate', '--json', session], places)
      if (status !== 0 || (await readFile(join(session, 'rewind_points.jsonl'))).includes(places.project)) faults.push(`migrate ends with ${status}, or left the paths: ${err}`)
    }
    const api = await startApi()
    let agent
    try {
      agent = await openClient(places, api.url)
      await agent.call('session/load', { sessionId: id, cwd: places.project, mcpServers: [] })
      await agent.call('_x.ai/rewind/execute', { sessionId: id, targetPromptIndex: 0, force: true, mode: 'files_only' })
      const now = (await readFile(lamp)).toString()
      if (now !== 'old') faults.push(`${migrated ? 'behind' : 'in front of'} the step the file is ${now}`)
    } catch (error) {
      faults.push(`${migrated ? 'behind' : 'in front of'} the step: ${error.message}`)
    } finally {
      agent?.kill()
      await agent?.process.ended.catch(() => {})
      api.close()
    }
  }
  return faults
}

/** Does a value hold all that another does? What is null there is nothing. */
function holds(value, part) {
  if (part === null || typeof part !== 'object') return part === null || value === part
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(part)) return Array.isArray(value) && value.length === part.length && part.every((p, n) => holds(value[n], p))
  return Object.keys(part).every(key => part[key] === null || key in value && holds(value[key], part[key]))
}

/** All that the client keeps stands there, in its order and as it keeps it, and no more but for what it loses. */
function historyFaults(ours, theirs, lost) {
  const items = valuesOf(ours.get(HISTORY))
  const kept = valuesOf(theirs.get(HISTORY))
  const faults = []
  let at = 0
  for (const item of kept) {
    if (item.type === 'system') continue // the client puts its own there
    const found = items.findIndex((own, n) => n >= at && holds(own, item))
    if (found < 0) faults.push(`the client's item is not there: ${JSON.stringify(item).slice(0, 160)}`)
    else at = found + 1
  }
  if (items.some(({ type }) => type === undefined)) faults.push('a message is left')
  if (lost ? items.length <= kept.length : items.length !== kept.length) faults.push(`${items.length} items, the client has ${kept.length}`)
  if (Boolean(lost) !== theirs.has(`${HISTORY}.corrupt`)) faults.push(`the client ${lost ? 'loses nothing' : 'loses lines'}, against what the recipe says`)
  return faults
}

/** Each line has an envelope, with what stood there before, byte for byte. Ends of calls are told where there were none. */
function logFaults(before, after) {
  const was = linesOf(before.get(LOG))
  const is = linesOf(after.get(LOG)).filter(({ value }) => value.params?._meta?.sessfix === undefined)
  if (was.length !== is.length) return [`the log has ${is.length} lines, and had ${was.length}`]
  return was.flatMap(({ raw, value }, n) => {
    const now = is[n]
    if (value.params !== undefined) return now.raw.equals(raw) ? [] : [`line ${n + 1} of the log was changed`]
    const at = now.raw.indexOf(raw)
    const { timestamp, method } = now.value
    const early = Math.floor((value._meta?.agentTimestampMs ?? 0) / 1000)
    return at > 0 && method === 'session/update' && Number.isInteger(timestamp) && timestamp >= early && now.raw.subarray(at + raw.length).toString() === '}' ? [] : [`line ${n + 1} of the log is ${now.raw}`]
  })
}

/** The client sets these at loading as well. */
function summaryFaults(before, after, theirs, lost) {
  const [was, is, other] = [before, after, theirs].map(files => JSON.parse(files.get(SUMMARY)))
  const faults = Object.keys(was).filter(key => !['chat_format_version', 'num_chat_messages', 'num_messages'].includes(key) && JSON.stringify(was[key]) !== JSON.stringify(is[key])).map(key => `summary: ${key} was changed`)
  if (is.chat_format_version !== other.chat_format_version) faults.push(`summary: version ${is.chat_format_version}`)
  if (was.chat_format_version === undefined && !lost && is.num_chat_messages !== other.num_chat_messages) faults.push(`summary: ${is.num_chat_messages} items, the client counts ${other.num_chat_messages}`)
  return faults
}
