// Lets BIN look at one session, mend it, mend it again, and take that back.
import { readFile, readdir, stat, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { sessfix } from './binary.mjs'
import { wholeRecords, payloadOf } from './records.mjs'

/**
 * { outcome, faults, bytes, report }: 'clean', 'repaired', 'refused' or 'failed', and what the file holds then. It is put back afterwards
 * if `undo` is asked for.
 */
export async function repair(binary, place, file, { undo = true } = {}) {
  const aDayAgo = Math.floor(Date.now() / 1000) - 86_400
  await utimes(file, aDayAgo, aDayAgo)
  const before = await readFile(file)
  const names = await namesBeside(file)
  const faults = []
  const unchanged = async (bytes, what) => {
    if (!(await readFile(file)).equals(bytes)) faults.push(`${what} changed the file`)
  }

  const seen = await sessfix(binary, place, 'verify', file)
  await unchanged(before, 'verify')
  if (![0, 1, 3].includes(seen.status)) return { outcome: 'failed', faults: [...faults, `verify ends with ${seen.status}: ${seen.err}`], bytes: before }
  const mended = await sessfix(binary, place, 'repair', file)
  const bytes = await readFile(file)
  if ((await stat(file)).mtimeMs !== aDayAgo * 1000) faults.push('repair changed the time of the file')
  if ((await namesBeside(file)) !== names) faults.push('repair left something beside the session')
  const outcome = seen.status === 0 ? 'clean' : mended.status === 3 ? 'refused' : 'repaired'
  const report = { ...seen.sessions[0], ...mended.sessions[0] }
  if (mended.status !== (outcome === 'refused' ? 3 : 0)) return { outcome: 'failed', faults: [...faults, `verify ends with ${seen.status}, repair with ${mended.status}: ${mended.err}`], bytes, report }
  if (outcome !== 'repaired' && !bytes.equals(before)) faults.push(`${outcome}, but changed`)
  if (outcome === 'repaired' && bytes.equals(before)) faults.push('verify found damage, and repair changed nothing')
  if (outcome === 'refused') return { outcome, faults, bytes, report }

  faults.push(...lostRecords(before, bytes, report))
  const again = await sessfix(binary, place, 'repair', file)
  if (again.status !== 0) faults.push(`a second repair ends with ${again.status}: ${again.err}`)
  await unchanged(bytes, 'a second repair')
  const then = await sessfix(binary, place, 'verify', file)
  if (then.status !== 0) faults.push(`verify ends with ${then.status} behind the repair`)
  if (undo && outcome === 'repaired') {
    const back = await sessfix(binary, place, 'undo', file)
    if (back.status !== 0) faults.push(`undo ends with ${back.status}: ${back.err}`)
    await unchanged(before, 'repair and undo')
  }
  return { outcome, faults, bytes, report }
}

const namesBeside = async file => (await readdir(dirname(file))).sort().join('\n')

/** Whole records that are neither in the file any more nor reported as put aside. A word that had to change changes it. */
function lostRecords(before, after, { quarantined = [], findings = [] }) {
  const left = new Set(wholeRecords(after).map(({ value }) => payloadOf(value)))
  const touched = ({ at, length }) => [...quarantined, ...findings].some(({ offset, length: long }) => offset < at + length && at < offset + Math.max(long, 1))
  return wholeRecords(before).filter(record => record.value.type !== 'session' && !left.has(payloadOf(record.value)) && !touched(record))
    .map(({ value, at }) => `a record is lost: ${value.type} ${value.id} at ${at}`)
}
