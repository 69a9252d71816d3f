// One session: sessfix mends it, then the real clients are asked what they make of it.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PROMPT, isOld, resumed, shownBy } from './ask.mjs'
import { folderOf, placeIn } from './client.mjs'
import { closerFaults, missingFaults, pairingFaults, unsaidFaults } from './compare.mjs'
import { goesInCircles, isHeader, linesOf, told, wholeRecords } from './records.mjs'
import { repair } from './repair.mjs'
import { itemsOf, turnsOf, turnsOfRecord, turnsSent } from './turns.mjs'

/** { outcome: 'clean' | 'repaired' | 'refused' | 'failed', faults, bytes }. What a source is says sources.mjs. */
export async function runTrial(binary, source, folder) {
  const place = await placeIn(join(folder, 'sessfix'))
  const { outcome, faults, bytes } = await repair(binary, place, await settle(place, source.bytes, source.healthy))
  if (outcome === 'failed') return { outcome, faults, bytes }
  if (outcome === 'refused') {
    if (source.healthy !== undefined && !source.refuse) faults.push('refused, and there is a safe repair')
    if (source.verdict !== undefined && source.verdict !== 'refuse') faults.push(`refused, and ${source.verdict} is right`)
  } else {
    if (source.refuse || source.verdict === 'refuse') faults.push('not refused, and there is no safe repair')
    if (source.clean && outcome !== 'clean') faults.push('repaired, and nothing is wrong with it')
    faults.push(...await clientFaults(source, bytes, folder))
  }
  return { outcome: faults.length > 0 ? 'failed' : outcome, faults, bytes }
}

/** Where the client would keep it. */
export async function settle(place, bytes, healthy = bytes) {
  const header = linesOf(healthy).find(({ value }) => isHeader(value))?.value ?? {}
  const cwd = typeof header.cwd === 'string' ? header.cwd : '/home/user/project'
  const time = typeof header.timestamp === 'string' ? header.timestamp : '2026-01-01T00:00:00.000Z'
  const folder = join(place.sessions, folderOf(cwd))
  await mkdir(folder, { recursive: true })
  const file = join(folder, `${time.replace(/[:.]/g, '-')}_${typeof header.id === 'string' ? header.id : 'unknown'}.jsonl`)
  await writeFile(file, bytes)
  return file
}

async function clientFaults(source, bytes, folder) {
  const faults = []
  for (const engine of ['current', 'legacy']) {
    const shown = await shownBy(engine, bytes, join(folder, engine))
    faults.push(...shownFaults(shown, bytes, await knowledgeOf(engine, source, folder)).map(fault => `${engine}: ${fault}`))
  }
  if (source.goesOn === false) return faults
  const known = await knowledgeOf('current', source, folder)
  const resume = async afresh => sentFaults(await resumed(bytes, join(folder, 'resumed'), { afresh }), known)
  // What is held against a repair is what a client does that was started for this session.
  const found = source.afresh || (await resume(false)).length > 0 ? await resume(true) : []
  return [...faults, ...found.map(fault => `resumed: ${fault}`)]
}

function shownFaults({ error, messages, rewrote }, bytes, known) {
  if (error !== undefined) return [`does not open: ${error}`]
  const turns = turnsOf(messages)
  return [
    ...rewrote && !isOld(bytes) && bytes.length > 0 ? ['writes the file when it opens it'] : [],
    ...pairingFaults(turns, { sent: false }), ...missingFaults(known.wanted, turns), ...unsaidFaults(turns, known), ...closerFaults(turns),
  ]
}

export function sentFaults({ status, err, sent, requests, faults }, known) {
  if (status !== 0) return [`ends with ${status}: ${err}`]
  if (requests !== 1) return [`${requests} requests instead of one`]
  const turns = turnsSent(sent).map(turn => ({ ...turn, cut: turn.calls.some(call => known.cut.has(call)) }))
  const last = turns.pop()
  if (last?.texts.at(-1) !== PROMPT) return ['the prompt is not what stands at the end']
  if (last.texts.length > 1) turns.push({ ...last, texts: last.texts.slice(0, -1) })
  const wanted = known.wanted.filter(({ mute }) => !mute)
  return [...faults, ...pairingFaults(turns, { sent: true }), ...missingFaults(wanted, turns), ...unsaidFaults(turns, known), ...closerFaults(turns)]
}

/**
 * { wanted, said, answered, edits, cut }: items that must come, in order; all that may come; calls with a result on record; texts put in the
 * place of others; calls of answers that were too long. Of our own damage the healthy session tells, of others what the client showed before.
 */
export async function knowledgeOf(engine, source, folder) {
  const records = wholeRecords(source.bytes).map(({ value }) => value)
  const items = records.flatMap(record => itemsOf(turnsOfRecord(record)))
  const edits = new Set(records.filter(({ type }) => type === 'context_edit').flatMap(({ replacement }) => itemsOf(turnsOf([{ role: 'edit', content: replacement?.content }]))).map(({ text }) => text))
  const answered = new Set(items.filter(item => 'result' in item).map(({ result }) => result))
  const cut = new Set(records.filter(({ message }) => message?.stopReason === 'length').flatMap(({ message }) => turnsOf([message])[0]?.calls ?? []))
  const before = source.healthy ?? told(source.bytes)
  const { messages = [] } = goesInCircles(before) ? {} : await shownBy(engine, before, join(folder, `${engine}-before`))
  if (source.healthy === undefined) return { wanted: paired(turnsOf(messages)).filter(({ text }) => !source.elsewhere?.includes(text)), said: items, answered, edits, cut }

  const ideal = itemsOf(turnsOf(messages))
  const gone = new Set(source.without.flatMap(record => itemsOf(turnsOfRecord(record))).map(({ name }) => name))
  const here = new Set(items.map(({ name }) => name))
  const isLeft = item => (here.has(item.name) || edits.has(item.text)) && !gone.has(item.name) && (item.result === undefined || here.has(`call ${item.result}`))
  const mute = new Set(records.flatMap(record => itemsOf(turnsOfRecord(record))).filter(item => item.mute).map(({ name }) => name))
  const wanted = ideal.filter(item => source.whole || isLeft(item)).map(item => mute.has(item.name) ? { ...item, mute: true } : item)
  const more = source.adds.map(text => ({ role: 'user', text, name: `assistant: ${text}` }))
  const added = items.filter(item => source.adds.includes(item.text) || source.adds.includes(`call ${item.call}`))
  return { wanted, said: [...ideal, ...more, ...added], answered, edits, cut }
}

/** Results that stand in a wrong place are for the repair to move or to take out, so they need not come where they came. */
function paired(turns) {
  let open = new Set()
  return itemsOf(turns.filter(({ role, calls, id, mute }) => {
    if (role === 'result') return open.delete(id)
    if (!mute) open = new Set(calls)
    return true
  }))
}
