// Judges one trial: what sessfix said and did, against what the real library says and does.
import { interruptedTurnClosers } from '@deepseek-ai/dsh-session'
import { encodingOf } from './place.mjs'
import { lines, same, wholeRecords } from './records.mjs'
import { judge } from './verdict.mjs'

const OUTCOMES = { 0: 'clean', 1: 'repairable', 3: 'refused' }

/** { outcome, faults: [...], notes: [...] } */
export async function compare(trial) {
  const { log, steps } = trial
  const faults = []
  const notes = []
  const fault = text => faults.push(text)
  const said = OUTCOMES[steps.verify.exit] ?? 'trouble'
  const did = steps.repair.exit === 0 ? said === 'clean' ? 'clean' : 'repaired' : steps.repair.exit === 3 ? 'refused' : 'trouble'

  for (const [name, step] of Object.entries(steps)) {
    if (!step.json) fault(`${name} printed no JSON report${step.stderr ? `: ${step.stderr.trim().slice(0, 200)}` : ''}`)
    else if (step.session === undefined) fault(`${name} reported no session`)
  }
  if (said === 'trouble') fault(`verify ended with ${steps.verify.exit}`)
  if (did === 'trouble') fault(`repair ended with ${steps.repair.exit}`)
  if ((said === 'refused') !== (did === 'refused') && said !== 'trouble' && did !== 'trouble') fault(`verify says ${said}, repair ends ${did}`)
  if (!steps.verify.bytes.equals(trial.before)) fault('verify changed the file')
  if (log.expect !== undefined && did !== log.expect) fault(`expected ${log.expect}, got ${did}${codes(steps.verify)}`)
  for (const line of trial.litter) fault(line)

  const before = await ask(log, { file: log.file, root: log.root })
  const client = before.verdict.loads ? 'the client loads it' : `the client says: ${before.verdict.error?.slice(0, 120)}`
  if (did === 'clean') {
    if (!trial.after.equals(trial.before)) fault('repair changed a clean file')
    for (const text of restless(before)) fault(`called clean, but ${text}`)
  }
  if (did === 'repaired') {
    const after = await ask(log, { file: trial.file, root: trial.root })
    for (const text of restless(after)) fault(`after repair ${text}`)
    if (trial.after.equals(trial.before)) fault('repair reported success and changed nothing')
    for (const text of wrongClosers(trial, before, after)) fault(text)
    lostRecords(trial, fault, notes)
  }
  if (did === 'refused') {
    if (!trial.after.equals(trial.before)) fault('refused, but the file was changed')
    const findings = [steps.repair, steps.verify].flatMap(step => [...step.session?.findings ?? [], ...(step.homes ?? []).flatMap(home => home.findings)])
    if (!findings.some(finding => finding.repair || finding.message)) fault('refused without a finding that says why')
    notes.push(`refused${codes(steps.verify)}; ${client}`)
  }
  if (did === 'clean' || did === 'repaired') {
    if (steps.again.exit !== 0) fault(`a second repair ended with ${steps.again.exit}`)
    if (steps.proof.exit !== 0) fault(`verify of the result ended with ${steps.proof.exit}${codes(steps.proof)}`)
  }
  if (!steps.again.bytes.equals(trial.after)) fault('a second repair changed the file again')
  return { outcome: did, faults, notes }
}

/** Damage beside a log is judged without the neighbours: sessfix was asked about this file only. */
const ask = (log, { file, root }) => judge({ name: log.name, id: log.store ? undefined : log.id, file, root: log.store ? undefined : root })

const codes = step => ` [${[...new Set([...step.session?.findings ?? [], ...(step.homes ?? []).flatMap(home => home.findings)].map(finding => finding.code))].join(' ')}]`

/** Everything that the client would still do to this log, or that a provider would not take. */
function restless({ verdict, inside }) {
  if (!verdict.loads) return [`the client does not load it: ${verdict.error}`]
  const out = []
  if (verdict.closers.length > 0) out.push(`the client adds ${verdict.closers.map(closer => closer.type).join(', ')}`)
  const { truncatedTo, added } = verdict.repair
  if (truncatedTo !== null) out.push(`the client cuts it to ${truncatedTo} bytes`)
  if (added.length > verdict.closers.length) out.push(`the client writes ${added.join(', ')} while it loads`)
  const grown = verdict.resume.filter(type => type !== 'session/end-seed')
  if (grown.length > 0) out.push(`a resume writes ${grown.join(', ')}`)
  if (verdict.strict?.ok === false) out.push(`the strict decoder refuses: ${verdict.strict.error}`)
  for (const kind of inside.open ?? []) out.push(`the last ${kind} is open`)
  return [...out, ...unpaired(verdict.messages)]
}

/** Each call has a name to be called by and one result, and nothing stands between the call and its result. */
function unpaired(messages) {
  const out = []
  let open = new Set()
  for (const item of messages.flatMap(message => message.items)) {
    if ('call' in item) {
      if (item.call === '') out.push('a call has an empty id')
      if (open.has(item.call)) out.push(`call ${item.call} is made twice at once`)
      open.add(item.call)
    } else if ('result' in item) {
      if (!open.delete(item.result)) out.push(`a result answers no open call (${item.result})`)
    } else {
      for (const id of open) out.push(`call ${id} has no result directly behind it`)
      open = new Set()
    }
  }
  for (const id of open) out.push(`call ${id} has no result`)
  return out
}

/**
 * Where the client itself can mend the log without throwing away a whole record, our closers are its
 * closers. Where it throws some away, ours must still be the ones it would add to what we kept.
 */
function wrongClosers(trial, before, after) {
  const { verdict, inside } = before
  if (!verdict.loads || verdict.closers.length === 0) return []
  const result = lines(trial.after, encodingOf(trial.file))
  const kept = verdict.version > 0 ? inside.records.slice(0, verdict.events + 1) : inside.records
  const cut = wholeRecords(trial.before, encodingOf(trial.file)).filter(({ value }) => !kept.some(record => same(record, value)))
  if (cut.length === 0) {
    const ours = result.slice(-verdict.closers.length)
    return verdict.closers.flatMap((closer, n) => sameCloser(ours[n], closer) ? [] : [`closer ${n + 1} of ${verdict.closers.length} differs: want ${JSON.stringify(closer)}, got ${JSON.stringify(ours[n])}`])
  }
  const { events } = after.inside
  if (events.at(-1)?.data?.reason?.kind !== 'interrupted') return []
  for (let at = events.length - 1; at > 0; at -= 1) {
    const closers = JSON.parse(JSON.stringify(interruptedTurnClosers(events.slice(0, at))))
    if (closers.length === events.length - at && closers.every((closer, n) => sameCloser(events[at + n], closer))) return []
  }
  return ['the closers are not those that the client would add to what was kept']
}

/** Equal records; the words of an outcome-unknown result are free, as long as there are some. */
function sameCloser(ours, theirs) {
  if (theirs.data.error?.code !== 'TOOL_OUTCOME_UNKNOWN') return same(ours, theirs)
  const text = ours?.data?.message?.content?.[0]?.content?.[0]?.text
  if (typeof text !== 'string' || text === '') return false
  const copy = structuredClone(theirs)
  copy.data.message.content[0].content[0].text = text
  return same(ours, copy)
}

/** Every whole record of the input stands in the output, perhaps edited in place, or was reported as quarantined. */
function lostRecords(trial, fault, notes) {
  const encoding = encodingOf(trial.file)
  const result = wholeRecords(trial.after, encoding).map(record => record.value)
  const spans = trial.steps.repair.session?.quarantined ?? []
  let aside = 0
  const seen = []
  for (const { offset, value } of wholeRecords(trial.before, encoding)) {
    if (seen.some(earlier => same(earlier, value))) continue
    seen.push(value)
    if (holds(result, value)) continue
    const quarantined = encoding === 'zstd' ? spans.length > 0 : spans.some(span => span.offset <= offset && offset < span.offset + span.length)
    if (quarantined) aside += 1
    else fault(`a whole record is gone: ${value.type} ${value.seq ?? value.seq0 ?? ''} at byte ${offset}`)
  }
  if (aside > 0) notes.push(`${aside} whole records quarantined`)
  const seeds = records => records.filter(record => record?.type === 'session/end-seed').length
  if (seeds(result) > seeds(seen)) fault('repair wrote the session/end-seed that belongs to the client')
}

/** The record itself, or the same record with a field mended: of the envelope, or of a record that an id identifies. */
function holds(records, wanted) {
  const number = record => record.seq ?? record.seq0
  const id = record => record.data?.id ?? record.data?.message?.id
  return records.some((record) => {
    if (record.type !== wanted.type || number(record) !== number(wanted)) return false
    if (record.type === 'session' || record.type === 'tool/call') return true
    return id(wanted) === undefined ? same(record.data, wanted.data) : id(record) === id(wanted)
  })
}
