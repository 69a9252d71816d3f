// Lets sessfix verify, repair and undo a session, and holds what it did to the files against what it may do.
import { join } from 'node:path'
import { sessfix } from './binary.mjs'
import { age, changesOf, settle, treeOf } from './home.mjs'
import { linesOf, recordsOf } from './lines.mjs'
import { DENIED, HISTORY, LOG, itemsOf } from './session.mjs'

/** { outcome, faults, over, before, after }: whether nothing more can be said, and the files of the session, before and after. */
export async function repair(binary, places, session, { clean, safe }) {
  const call = async (command) => {
    await age(places.grok)
    return sessfix(binary, command, places, session)
  }
  const all = () => treeOf(join(places.grok, 'sessions'))
  const faults = []
  const blame = async (since, who) => { for (const { name, how } of changesOf(since, await all())) faults.push(`${who}: ${how} ${name.split('/').slice(2).join('/') || name}`) }
  const end = async outcome => ({ outcome: faults.length > 0 ? 'failed' : outcome, faults, before, after: await treeOf(session) })

  const before = await treeOf(session)
  const start = await all()
  const verify = await call('verify')
  await blame(start, 'verify')
  if (![0, 1, 3].includes(verify.status)) faults.push(`verify ends with ${verify.status}: ${verify.err}`)
  if (clean && verify.status !== 0) faults.push(`verify ends with ${verify.status} on a healthy session: ${codesOf(verify)}`)

  const first = await call('repair')
  if (first.status === 3) {
    await blame(start, 'refused, but')
    if (safe) faults.push(`refused, and there is a safe repair: ${codesOf(first)}`)
    return { ...await end('refused'), over: true }
  }
  if (first.status !== 0) {
    faults.push(`repair ends with ${first.status}: ${first.err}`)
    return { ...await end('failed'), over: true }
  }
  const once = await all()
  const after = await treeOf(session)
  if (verify.status === 0) await blame(start, 'verify found nothing, repair')
  for (const { name, how } of changesOf(start, once)) if (how === 'added' && !join(places.grok, 'sessions', name).startsWith(session)) faults.push(`repair left ${name.split('/').slice(1).join('/')} beside the session`)
  for (const { name, how } of changesOf(before, after)) if (how === 'removed' || (how === 'added' && name.split('/').length === 1 && !KNOWN.test(name))) faults.push(`repair: ${how} ${name}`)

  const second = await call('repair')
  if (second.status !== 0) faults.push(`a second repair ends with ${second.status}: ${second.err}`)
  await blame(once, 'a second repair')
  const last = await call('verify')
  if (last.status !== 0) faults.push(`verify ends with ${last.status} after the repair: ${codesOf(last)}`)
  faults.push(...lostRecords(before, after, first.sessions), ...badLines(after))

  if (verify.status !== 0 && faults.length === 0) {
    const undo = await call('undo')
    if (undo.status !== 0) faults.push(`undo ends with ${undo.status}: ${undo.err}`)
    else await blame(start, 'repair and undo')
    await settle(after, session)
  }
  return end(verify.status === 0 ? 'clean' : 'repaired')
}

/** What a repair may make anew. */
const KNOWN = /^(summary\.json|chat_history\.jsonl|updates\.jsonl|events\.jsonl)$/

const codesOf = ({ sessions, err }) => [...new Set(sessions.flatMap(({ findings = [] }) => findings.map(({ code }) => code)))].join(' ') || err

/** Whole records that stand nowhere any more, and are not reported as put aside. */
function lostRecords(before, after, sessions) {
  const aside = sessions.flatMap(session => session.quarantined ?? [])
  return [HISTORY, LOG].flatMap((name) => {
    const there = recordsOf(after.get(name) ?? Buffer.alloc(0)).map(({ value }) => wordsOf(value))
    const isAside = ({ at, raw }) => aside.some(({ file, offset, length }) => file.endsWith(name) && offset < at + raw.length && at < offset + length)
    return recordsOf(before.get(name) ?? Buffer.alloc(0)).filter(record => !isAside(record) && !isDenial(record)).flatMap(({ number, value }) => {
      const place = there.indexOf(wordsOf(value))
      if (place < 0) return [`a record is lost: line ${number} of ${name}`]
      there.splice(place, 1)
      return []
    })
  })
}

/** The client's own closers tell nothing, and may make room for what is so. */
const isDenial = ({ value }) => DENIED.test(value.content)

/** An older form may be brought up to date. */
function wordsOf(value) {
  const update = (value.params ?? value).update
  const items = update === undefined ? itemsOf(value) : []
  return JSON.stringify(update ?? (items.length > 0 ? items : value))
}

/** What a reader stumbles over, also in files whose damage the client hides: it reads them when a turn is taken back, or never tells. */
function badLines(files) {
  const logs = [HISTORY, LOG, 'events.jsonl', 'rewind_points.jsonl'].flatMap(name => linesOf(files.get(name) ?? Buffer.alloc(0)).flatMap(({ number, raw, value, ended }) => {
    if (raw.toString().trim() !== '' && value === undefined) return [`line ${number} of ${name} is no record`]
    return ended ? [] : [`the last line of ${name} has no end`]
  }))
  const plan = files.get('plan.json')
  return plan === undefined || linesOf(Buffer.from(plan.toString().replaceAll('\n', ' ')))[0]?.value !== undefined ? logs : [...logs, 'plan.json is no JSON']
}
