// One session of an older generation: sessfix brings it to version 3, and so does the client.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { resumed, shownBy } from './ask.mjs'
import { sessfix } from './binary.mjs'
import { placeIn } from './client.mjs'
import { look } from './look.mjs'
import { isHeader, linesOf, withHeader } from './records.mjs'
import { knowledgeOf, sentFaults, settle } from './trial.mjs'

/** Faults of an upgrade. Where the header lies, `version` is what it ought to say. */
export async function upgradeFaults(binary, { bytes, settings, parent, version }, folder) {
  const place = await placeIn(join(folder, 'sessfix'))
  const file = await settle(place, bytes)
  const planned = await sessfix(binary, place, 'migrate', file, ['--dry-run'])
  const faults = planned.status === 0 || planned.status === 1 ? [] : [`--dry-run ends with ${planned.status}: ${planned.err}`]
  if (!(await readFile(file)).equals(bytes)) faults.push('--dry-run changed the file')
  const made = await sessfix(binary, place, 'migrate', file)
  if (made.status !== 0) return [...faults, `ends with ${made.status}: ${whyOf(made)}`]
  const after = await readFile(file)
  const theirs = await upgradedByClient(version === undefined ? bytes : withHeader(bytes, version), folder)
  faults.push(...recordFaults(rowsOf(after), rowsOf(theirs), rowsOf(bytes), { settings, parent }))
  faults.push(...numberFaults(bytes, after))
  for (const engine of ['current', 'legacy']) {
    const [shown, wanted] = [await shownBy(engine, after, join(folder, engine)), await shownBy(engine, theirs, join(folder, `${engine}-theirs`))]
    if (shown.error !== undefined) faults.push(`${engine}: does not open: ${shown.error}`)
    else if (shown.rewrote) faults.push(`${engine}: writes the file when it opens it`)
    else if (!isDeepStrictEqual(shown.messages, wanted.messages)) faults.push(`${engine}: shows ${shown.messages.length} messages, of its own upgrade ${wanted.messages?.length}, and not the same`)
    const level = rowsOf(bytes).findLast(({ type }) => type === 'thinking_level_change')?.thinkingLevel ?? settings?.thinkingLevel
    if (settings?.thinkingLevel !== undefined && shown.thinkingLevel !== level) faults.push(`${engine}: the thinking level is ${shown.thinkingLevel}`)
    if (settings === undefined && !isDeepStrictEqual([shown.model, shown.thinkingLevel], [wanted.model, wanted.thinkingLevel])) faults.push(`${engine}: the settings are not those of its own upgrade`)
  }
  faults.push(...sentFaults(await resumed(after, join(folder, 'resumed')), await knowledgeOf('current', { bytes: after }, folder)).map(fault => `resumed: ${fault}`))
  for (const command of ['verify', 'migrate', 'repair']) {
    const again = await sessfix(binary, place, command, file)
    if (again.status !== 0 || !(await readFile(file)).equals(after)) faults.push(`${command} behind it ends with ${again.status}, or changes the file`)
  }
  const back = await sessfix(binary, place, 'undo', file)
  if (back.status !== 0 || !(await readFile(file)).equals(bytes)) faults.push(`undo ends with ${back.status}, or does not give the bytes back: ${back.err}`)
  return faults
}

/** Faults of a refusal. */
export async function refusalFaults(binary, { bytes, reason }, folder) {
  const place = await placeIn(join(folder, 'sessfix'))
  const file = await settle(place, bytes)
  const made = await sessfix(binary, place, 'migrate', file)
  const faults = (await readFile(file)).equals(bytes) ? [] : ['refused, but changed']
  return made.status === 3 && reason.test(whyOf(made)) ? faults : [...faults, `is not refused for ${reason}, but ends with ${made.status}: ${whyOf(made)}`]
}

/** Faults of a session of AgentHarness that becomes one of pi, which opens none of its own: the talk is that of the branch to go on from. */
export async function leaveFaults(binary, { bytes }, folder) {
  const place = await placeIn(join(folder, 'sessfix'))
  const file = await settle(place, bytes)
  const made = await sessfix(binary, place, 'migrate', file, ['--to', '3'])
  if (made.status !== 0) return [`ends with ${made.status}: ${whyOf(made)}`]
  const after = await readFile(file)
  const writes = linesOf(bytes).flatMap(({ value }) => [value].flat())
  const entries = new Map(writes.filter(({ kind }) => kind === 'entry').map(entry => [entry.id, entry]))
  const said = []
  for (let entry = entries.get(writes.findLast(({ namespace, key }) => namespace === 'pi.branch.tip' && key === 'main').value); entry; entry = entries.get(entry.parentId)) {
    if (entry.message !== undefined) said.unshift(entry.message)
    if (entry.type === 'compaction') {
      said.unshift({ summary: entry.summary }, ...entry.retainedTail)
      break
    }
  }
  const faults = []
  for (const engine of ['current', 'legacy']) {
    const shown = await shownBy(engine, after, join(folder, engine))
    if (shown.error !== undefined || shown.rewrote) faults.push(`${engine}: ${shown.error ?? 'writes the file when it opens it'}`)
    else if (!isDeepStrictEqual(shown.messages.slice(0, said.length).map(plain), said.map(plain))) faults.push(`${engine}: shows ${JSON.stringify(shown.messages).slice(0, 300)}`)
  }
  const sent = sentFaults(await resumed(after, join(folder, 'resumed')), await knowledgeOf('current', { bytes: after }, folder))
  // The harness records that a call has not started; pi does not.
  return [...faults, ...sent.filter(fault => !fault.includes('is said not to have started')).map(fault => `resumed: ${fault}`)]
}

const plain = ({ content, summary }) => content ?? summary

const whyOf = ({ err, report, sessions }) => `${err} ${JSON.stringify(sessions[0] ?? report)}`
const rowsOf = bytes => linesOf(bytes).map(({ value }) => value)

/** The file as the client writes it when it opens it. */
async function upgradedByClient(bytes, folder) {
  const place = await placeIn(join(folder, 'upgraded'))
  const file = await settle(place, bytes)
  await look('current', file, place)
  return readFile(file)
}

/** The fork that the client makes of the whole file, which it does not upgrade. */
export async function forkedByClient(bytes, folder) {
  const place = await placeIn(join(folder, 'forked'))
  const file = await settle(place, bytes)
  const { file: fork, error } = await look('current', file, place, { fork: place.project })
  if (error !== undefined) throw new Error(`the client does not fork it: ${error}`)
  return readFile(fork)
}

/** Record by record the same, but for ids, and for what the client loses. */
export function recordFaults(ours, theirs, before, { settings, parent }) {
  const faults = []
  const isOld = !(before[0].version >= 2) || before.slice(1).some(row => row.id === undefined)
  const added = ours.filter(row => !isHeader(row)).length - theirs.filter(row => !isHeader(row)).length
  const wanted = [...settings?.model === undefined ? [] : ['model_change'], ...settings?.thinkingLevel === undefined ? [] : ['thinking_level_change']]
  const [head, ...rest] = ours
  const extra = rest.splice(0, wanted.length)
  if (added !== wanted.length || extra.some(({ type }, n) => type !== wanted[n])) return [`${added} records more than the client's, ${wanted.length} were expected`]
  const { model, thinkingLevel } = settings ?? {}
  for (const { type, timestamp, provider, modelId, thinkingLevel: level } of extra) {
    const right = type === 'model_change' ? isDeepStrictEqual({ provider, modelId }, model) : level === thinkingLevel
    if (!right || timestamp !== head.timestamp) faults.push(`the entry made of the header's ${type} is not right`)
  }
  const { parentSession, ...known } = head
  const { parentSession: had, ...theirKnown } = theirs[0]
  if (!isDeepStrictEqual(known, theirKnown)) faults.push(`the header is ${JSON.stringify(head)}`)
  if (parentSession !== (had ?? parent)) faults.push(`the parent is ${parentSession}`)
  const ids = new Map(theirs.slice(1).map(({ id }, n) => [id, rest[n]?.id]))
  for (const [n, theirRow] of theirs.slice(1).entries()) {
    const own = rest[n]
    const same = (key) => {
      if (['id', 'firstKeptEntryId'].includes(key)) return isOld ? own[key] === ids.get(theirRow[key]) : own[key] === theirRow[key]
      if (key === 'parentId') return own.parentId === (!isOld ? theirRow.parentId : theirRow.parentId === null ? extra.at(-1)?.id ?? null : ids.get(theirRow.parentId))
      return isDeepStrictEqual(own[key], theirRow[key])
    }
    faults.push(...Object.keys(theirRow).filter(key => !same(key)).map(key => `record ${n + 1}: ${key} is ${JSON.stringify(own[key])}, the client's ${JSON.stringify(theirRow[key])}`))
    const more = Object.keys(own).filter(key => !(key in theirRow))
    const right = more.every(key => own.type === 'model_change' && ['provider', 'modelId'].includes(key) || key === 'firstKeptEntryId' && own[key] === own.id)
    if (!right) faults.push(`record ${n + 1} has ${more} more than the client's`)
  }
  const all = rest.concat(extra).map(({ id }) => id)
  if (new Set(all).size !== all.length || isOld && all.some(id => !/^[0-9a-f]{8}$/.test(id))) faults.push('ids are not unique, or not of the client\'s form')
  return faults
}

/** Numbers are written as they were: the client's own upgrade rounds them. */
function numberFaults(before, after) {
  const numbers = bytes => (bytes.toString().match(/9007199254740993|\b0\.0\b/g) ?? []).length
  return numbers(before) === numbers(after) ? [] : ['numbers were written anew']
}
