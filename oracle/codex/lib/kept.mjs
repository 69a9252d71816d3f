// Holds the rollouts after a repair against those before it: no record is lost, nothing moves that another file points at.
import { basename } from 'node:path'
import { baseOf } from './rollouts.mjs'

/** Records that stand nowhere in the thread any more, and are not reported as put aside. Both are libraries. */
export function lostRecords(before, after, sessions) {
  const aside = sessions.flatMap(session => session.quarantined ?? [])
  const faults = []
  for (const rollout of before.values()) {
    const there = new Set([...after.values()].filter(other => other.thread === rollout.thread).flatMap(other => other.records.map(wordsOf)))
    for (const record of rollout.records) {
      if (record.value.type === 'session_meta' || there.has(wordsOf(record)) || aside.some(span => holds(span, rollout, record))) continue
      faults.push(`record lost: line ${record.line.number} of ${rollout.id}, ${record.value.type} ${record.value.payload.type ?? ''}`)
    }
  }
  return faults
}

/** Numbers and times may be given anew, what is said may not. */
export const wordsOf = ({ value: { type, payload } }) => JSON.stringify([type, payload]).replace(/[?\ufffd]+/g, '?')

function holds(span, rollout, { line }) {
  if (basename(String(span.file)) !== rollout.name) return false
  return rollout.name.endsWith('.zst') || (span.offset < line.at + line.raw.length && line.at < span.offset + span.length)
}

/** Lines in front of a place that another file points at must be where they were: in `healthy`, which may be what was `before`. */
export function movedLines(healthy, before, after) {
  const faults = []
  for (const child of healthy.values()) {
    const base = baseOf(child)
    const old = healthy.get(base?.thread_id)
    const now = after.get(base?.thread_id)
    if (old === undefined || now === undefined) continue
    const whole = new Set(before.get(base.thread_id)?.lines.filter(line => !line.bad).map(line => line.raw.toString()))
    const shared = old.lines.filter(({ at, raw }) => at < base.end_byte_offset && whole.has(raw.toString()))
    const moved = shared.filter(({ at, raw }) => !now.text.subarray(at, at + raw.length).equals(raw))
    if (moved.length > 0) faults.push(`${moved.length} lines of ${old.id} have moved, from line ${moved[0].number} on, and ${child.id} goes on behind them`)
  }
  return faults
}

/** What a reader stumbles over. A file that others point into may have to keep a bad line in its place. */
export function badLines(library) {
  const pointedAt = new Set([...library.values()].map(rollout => baseOf(rollout)?.thread_id))
  return [...library.values()].flatMap(({ id, lines, text }) => {
    const bad = pointedAt.has(id) ? [] : lines.filter(line => line.bad).map(line => `line ${line.number} of ${id} is no record`)
    return text.length > 0 && !lines.at(-1).ended ? [...bad, `the last line of ${id} has no end`] : bad
  })
}

/** The client may add to a rollout, and unpack it. It has no cause to do anything else. */
export function rewritten(before, after) {
  return [...before.values()].flatMap((old) => {
    const now = after.get(old.id)
    if (now === undefined) return [`the client removed ${old.id}`]
    if (!now.text.subarray(0, old.text.length).equals(old.text)) return [`the client rewrote ${old.id}`]
    return now.text[old.text.length] === 10 ? [`the client had to end the last line of ${old.id}`] : []
  })
}
