// What sessfix exports as messages, against what the real library sends of the same log.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { itemsOfBlocks, itemsOfClient, listFaults, without } from './lists.mjs'
import { linesOf } from './logs.mjs'
import { opened } from './open.mjs'
import { run } from './processes.mjs'
import { homeIn } from './trial.mjs'

/** What opener.mjs asks. */
const PROMPT = 'What is next?'

/** Faults; undefined where sessfix refuses to mend the log, or it has no lane to go on in. */
export async function messageFaults(binary, { bytes }, folder, env) {
  const own = await homeIn(folder)
  const file = join(own.HOME, '.pi', 'agent', 'sessions', '--home-user-harbour--', '2026-04-01T09-30-00-000Z_019d0b00-1111-7222-8333-000000000001.jsonl')
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, bytes)
  const call = (...args) => run(binary, [...args, file], { env: own, cwd: own.HOME })
  const exported = async () => {
    const { status, out, err } = await call('export', '--format', 'messages', '--provider', 'anthropic')
    return status === 0 ? { list: JSON.parse(out) } : { fault: `export ends with ${status}: ${err.slice(0, 200)}` }
  }
  const before = await exported()
  const mended = await call('repair', '--json')
  if (mended.status === 3) return undefined
  if (mended.status !== 0) return [`repair ends with ${mended.status}: ${mended.err.slice(0, 200)}`]
  const after = await exported()
  if (before.fault ?? after.fault) return [before.fault ?? after.fault]
  const faults = []
  if (!isDeepStrictEqual(before.list, after.list)) faults.push('the damaged log is exported otherwise than the repaired one', ...listFaults(itemsOfBlocks(after.list), itemsOfBlocks(before.list)))
  const { error, lanes } = await opened(file, env)
  if (error !== undefined) return [...faults, `the library does not open it: ${error}`]
  if (lanes?.main?.whole === undefined) return faults.length > 0 ? faults : undefined
  const said = [...waiting(await readFile(file)), PROMPT].reverse().reduce((items, words) => without(words, items), itemsOfClient(lanes.main.whole))
  return [...faults, ...listFaults(said, itemsOfBlocks(after.list))]
}

/** Words that wait in the lane for the next run, which says them in front of its own. */
function waiting(bytes) {
  let inbox = []
  const entries = new Map()
  for (const { writes = [] } of linesOf(bytes)) {
    for (const { namespace, key, value } of writes) {
      if (namespace === 'pi.lane.state' && key === 'main') inbox = value?.inbox ?? []
      if (namespace === 'pi.pending.entry') entries.set(key, value)
    }
  }
  return inbox.map(item => textIn(item) ?? textIn(entries.get(item?.entryId ?? item)) ?? '')
}

function textIn(value) {
  if (value === null || typeof value !== 'object') return undefined
  if (typeof value.text === 'string') return value.text
  for (const inner of Object.values(value)) {
    const text = textIn(inner)
    if (text !== undefined) return text
  }
  return undefined
}
