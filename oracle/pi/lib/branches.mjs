// Forks of one session: at every entry, behind it and in front of each prompt. The real client is asked for the same.
import { readFile, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { resumed, shownBy } from './ask.mjs'
import { sessfix } from './binary.mjs'
import { placeIn } from './client.mjs'
import { pairingFaults } from './compare.mjs'
import { look } from './look.mjs'
import { isHeader, linesOf } from './records.mjs'
import { knowledgeOf, sentFaults, settle } from './trial.mjs'
import { turnsOf } from './turns.mjs'

/** { children, refused }, undefined for a session that is not clean: nothing is said of its forks. `report` is told of each place. */
export async function forkFaults(binary, source, folder, every, report) {
  const place = await placeIn(join(folder, 'sessfix'))
  const file = await settle(place, source.bytes)
  if ((await sessfix(binary, place, 'verify', file)).status !== 0) return undefined
  const rows = linesOf(source.bytes).map(({ value }, n) => ({ value, line: n + 1 })).filter(({ value }) => value !== undefined && !isHeader(value) && value.id !== undefined)
  const version = linesOf(source.bytes).find(({ value }) => isHeader(value))?.value.version
  if (rows.length === 0) return undefined
  if (Number(version) !== 3) {
    report('whole', await refusal(binary, place, file, ['--at', 'last'], /sessfix migrate/))
    return { children: 0, refused: 1 }
  }
  const seen = { children: 0, refused: 0 }
  for (const [n, { value, line }] of rows.entries()) {
    if (n % every !== 0 && n !== rows.length - 1) continue
    const cuts = [{ at: value.id, options: ['--at', `line:${line}`] }]
    if (n === rows.length - 1) cuts.push({ at: value.id, options: ['--at', 'last'], last: true })
    if (value.message?.role === 'user' && value.parentId !== null) cuts.push({ at: value.parentId, options: ['--at', `line:${line}`, '--before'] })
    for (const cut of cuts) {
      const { faults, child } = await trial(binary, place, file, source, cut, join(folder, `${line}-${cuts.indexOf(cut)}`))
      seen[child ? 'children' : 'refused'] += 1
      report(cut.options.join(' '), faults)
    }
  }
  return seen
}

async function trial(binary, place, file, source, cut, folder) {
  const there = await parentAt('current', file, cut.at, folder)
  const open = pairingFaults(turnsOf(there.messages), { sent: false })
  const empty = there.messages.length === 0
  if (open.length > 0 || empty) {
    if (cut.last) return { faults: [], child: false } // it goes to the last place that is legal
    const lone = open.some(fault => fault.includes('no call in front of it')) // a call was edited out, and its result not yet
    const faults = await refusal(binary, place, file, cut.options, empty ? /empty/ : lone ? /ORPHAN_RESULT/ : /unanswered/)
    if (empty || lone) return { faults, child: false }
    const made = await sessfix(binary, place, 'fork', file, [...cut.options, '--close'])
    if (made.status !== 0) return { faults: [...faults, `--close ends with ${made.status}: ${made.report.refusal ?? made.err}`], child: false }
    return { faults: [...faults, ...await childFaults(binary, made, place, folder, source, there, file)], child: true }
  }
  const made = await sessfix(binary, place, 'fork', file, cut.options)
  if (made.status !== 0) return { faults: [`ends with ${made.status}: ${made.report.refusal ?? made.err}`], child: false }
  const faults = await sameAsClient(made.report.child.path, file, cut.at, folder)
  return { faults: [...faults, ...await childFaults(binary, made, place, folder, source, there, file, true)], child: true }
}

/** What a client holds of the parent when it stands at an entry. */
async function parentAt(engine, file, at, folder) {
  const place = await placeIn(join(folder, `${engine}-parent`))
  const copy = await settle(place, await readFile(file))
  return look(engine, copy, place, { at })
}

/** The client's own branch has the same entries, with the same members. Labels have ids of their own, and stand in an order of their own. */
async function sameAsClient(child, file, at, folder) {
  const place = await placeIn(join(folder, 'branched'))
  const copy = await settle(place, await readFile(file))
  const { file: branch, error } = await look('current', copy, place, { branch: at })
  if (error !== undefined) return [`the client does not branch there: ${error}`]
  const theirs = await readFile(branch).then(bytes => linesOf(bytes).map(({ value }) => value), () => undefined)
  if (theirs === undefined) return [] // the client writes no branch in which nothing was said
  const ours = linesOf(await readFile(child)).map(({ value }) => value)
  const [ourHead, theirHead] = [ours.shift(), theirs.shift()]
  const faults = []
  for (const key of Object.keys(theirHead)) {
    if (key === 'cwd' && !('cwd' in ourHead)) continue // the parent has none, and the client puts its own there
    const same = ['id', 'timestamp'].includes(key) ? typeof ourHead[key] === 'string' : key === 'parentSession' ? ourHead[key] === file && theirHead[key] === copy : String(ourHead[key]) === String(theirHead[key])
    if (!same) faults.push(`the header has ${key} ${ourHead[key]}, the client's ${theirHead[key]}`)
  }
  const talk = rows => rows.filter(({ type }) => type !== 'label')
  if (!isDeepStrictEqual(talk(ours), talk(theirs))) faults.push(`the entries are not those of the client: ${short(talk(ours))}, and ${short(talk(theirs))}`)
  const labels = rows => rows.filter(({ type }) => type === 'label').map(({ id, parentId, ...rest }) => JSON.stringify(Object.entries(rest).sort())).sort()
  if (!isDeepStrictEqual(labels(ours), labels(theirs))) faults.push(`the labels are not those of the client: ${labels(ours)}, and ${labels(theirs)}`)
  const ids = new Set(linesOf(await readFile(file)).map(({ value }) => value?.id))
  for (const [n, { type, id, parentId }] of ours.entries()) {
    if (parentId !== (n === 0 ? null : ours[n - 1].id)) faults.push(`${id} hangs under ${parentId}`)
    if ((type === 'label') === ids.has(id)) faults.push(`${type} ${id} has ${type === 'label' ? 'an id of the parent' : 'a new id'}`)
  }
  return faults
}

const short = rows => JSON.stringify(rows.map(({ id, parentId }) => [id, parentId])).slice(0, 200)

/** Both clients open it and show what they show of the parent there; the newest goes on with it. The parent is as it was, and nothing else was made. */
async function childFaults(binary, { report }, place, folder, source, there, file, exact = false) {
  const { path, id } = report.child
  const bytes = await readFile(path)
  const faults = await leftFaults(file, source.bytes, [path])
  if (!path.endsWith(`_${id}.jsonl`) || dirname(path) !== dirname(file)) faults.push(`it is called ${path}`)
  for (const engine of ['current', 'legacy']) {
    const shown = await shownBy(engine, bytes, join(folder, engine))
    const parent = engine === 'current' ? there : await parentAt(engine, file, parentEntry(bytes, source.bytes), folder)
    if (shown.error !== undefined) faults.push(`${engine}: does not open: ${shown.error}`)
    else if (shown.rewrote) faults.push(`${engine}: writes the file when it opens it`)
    else if (exact && !isDeepStrictEqual(shown.messages, parent.messages)) faults.push(`${engine}: shows ${shown.messages.length} messages, of the parent ${parent.messages?.length}, and not the same`)
    else if (!exact && !isDeepStrictEqual(shown.messages.slice(0, parent.messages.length), parent.messages)) faults.push(`${engine}: what was there before is not the same`)
    if (exact && engine === 'current' && !isDeepStrictEqual([shown.model, shown.thinkingLevel], [parent.model, parent.thinkingLevel])) faults.push('the settings are not the same')
  }
  faults.push(...sentFaults(await resumed(bytes, join(folder, 'resumed')), await knowledgeOf('current', { bytes }, folder)).map(fault => `resumed: ${fault}`))
  const seen = await sessfix(binary, place, 'verify', path)
  if (seen.status !== 0) faults.push(`verify ends with ${seen.status} on the child`)
  await rm(path)
  return faults
}

/** The last entry of a child that the parent has as well. */
function parentEntry(child, parent) {
  const ids = new Set(linesOf(parent).map(({ value }) => value?.id))
  return linesOf(child).map(({ value }) => value.id).findLast(id => ids.has(id))
}

/** It ends with 3, gives the reason, and writes nothing. */
async function refusal(binary, place, file, options, reason) {
  const before = await readFile(file)
  const { status, err, report: { refusal: why = err } } = await sessfix(binary, place, 'fork', file, options)
  const faults = await leftFaults(file, before, [])
  if (status !== 3 || !reason.test(why)) faults.push(`is not refused for ${reason}, but ends with ${status}: ${why}`)
  return faults
}

async function leftFaults(file, before, made) {
  const faults = (await readFile(file)).equals(before) ? [] : ['the parent was changed']
  const names = (await readdir(dirname(file))).map(name => join(dirname(file), name)).filter(name => name !== file && !made.includes(name))
  return names.length > 0 ? [...faults, `left beside it: ${names}`] : faults
}
