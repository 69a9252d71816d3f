// Rollout files: their names, their text, and how they refer to each other.
import { spawnSync } from 'node:child_process'
import { endOfFrames } from './frames.mjs'
import { isRecord, linesOf } from './lines.mjs'

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const NAME = new RegExp(`^rollout-(\\d{4})-(\\d{2})-(\\d{2})T\\d{2}-\\d{2}-\\d{2}-(${UUID})(?:_(${UUID}))?\\.jsonl(\\.zst)?$`)

/** { date, thread, id, packed }: `id` is what others call this file by. Undefined when it is no name of a rollout. */
export function readName(name) {
  const [match, year, month, day, thread, segment, packed] = NAME.exec(name) ?? []
  return match === undefined ? undefined : { date: [year, month, day], thread, id: segment ?? thread, packed: packed !== undefined }
}

/** What a packed file holds, as far as it unpacks, and what stands behind its frames as it is. */
export function unpack(bytes) {
  const end = endOfFrames(bytes)
  const { stdout, error } = spawnSync('zstd', ['-dcq'], { input: bytes.subarray(0, end), maxBuffer: 2 ** 30 })
  if (error) throw new Error(`zstd is needed to read packed rollouts: ${error.message}`)
  return Buffer.concat([stdout, bytes.subarray(end)])
}

/** A file as the judge sees it: { name, thread, id, text, lines, records, header }. A record knows its line: { value, line }. */
export function rolloutOf(name, bytes) {
  const { thread, id, packed } = readName(name)
  const text = packed ? unpack(bytes) : bytes
  const lines = linesOf(text)
  const records = lines.flatMap(line => line.records.filter(isRecord).map(value => ({ value, line })))
  const header = records.find(({ value }) => value.type === 'session_meta')?.value.payload
  return { name, thread, id, text, lines, records, header }
}

/** The id by which a client lists and resumes it: the header's, even where the name has another. */
export function askedId(rollout) {
  const { id } = rollout.header ?? {}
  return new RegExp(`^${UUID}$`).test(id) ? id : rollout.thread
}

/** All rollouts of a home, by the names that others call them by. A plain file stands before a packed one. */
export function libraryOf(files) {
  const library = new Map()
  for (const { name, bytes } of files) {
    const { id, packed } = readName(name)
    if (!packed || !library.has(id)) library.set(id, rolloutOf(name, bytes))
  }
  return library
}

/** Thread -> the rollout that its client reads: the one that no other of the thread goes on from, or the newest of those. */
export function newestOf(library) {
  const threads = new Map()
  const all = [...library.values()].sort((a, b) => a.name < b.name ? -1 : 1)
  for (const rollout of all) {
    const over = all.some(other => other !== rollout && other.thread === rollout.thread && baseOf(other)?.thread_id === rollout.id)
    if (!over) threads.set(rollout.thread, rollout)
  }
  return threads
}

export const baseOf = rollout => rollout.header?.history_mode === 'paginated' ? rollout.header.history_base : undefined
