// One log: sessfix makes a session of pi of it, and the real library takes that in again. What it then holds, and what it sends, must be
// what it held and sent before.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isPutOff, linesOf } from './logs.mjs'
import { opened } from './open.mjs'
import { run } from './processes.mjs'
import { homeIn } from './trial.mjs'

/** { outcome: 'left' | 'refused' | 'failed', faults }. */
export async function leaveTrial(binary, { bytes }, folder, env) {
  const own = await homeIn(folder)
  const file = join(own.HOME, '.pi', 'agent', 'sessions', '--home-user-harbour--', '2026-04-01T09-30-00-000Z_019d0b00-1111-7222-8333-000000000001.jsonl')
  const mended = join(folder, 'mended', 'mended.jsonl')
  for (const path of [file, mended]) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, bytes)
  }
  const call = (path, ...args) => run(binary, [...args, '--json', path], { env: own, cwd: own.HOME })
  const isDamaged = (await call(mended, 'repair')).status !== 0
  const made = await call(file, 'migrate', '--to', '3')
  if (made.status === 3) {
    const waits = isPutOff(await readFile(mended)) || waiting(await readFile(mended)) > 0
    const faults = (await readFile(file)).equals(bytes) ? [] : ['refused, but changed']
    if (!isDamaged && !waits) faults.push(`refused: ${made.out}`)
    return { outcome: faults.length > 0 ? 'failed' : 'refused', faults }
  }
  if (made.status !== 0) return { outcome: 'failed', faults: [`ends with ${made.status}: ${made.err} ${made.out}`] }
  const after = await readFile(file)
  const [was, is] = [await opened(mended, env), await opened(file, env)]
  const faults = is.error === undefined ? comparison(was, is) : [`the library does not take it in: ${is.error}`]
  for (const args of [['verify'], ['migrate', '--to', '3'], ['repair']]) {
    const again = await call(file, ...args)
    if (again.status !== 0 || !(await readFile(file)).equals(after)) faults.push(`${args[0]} behind it ends with ${again.status}, or changes the file`)
  }
  const back = await call(file, 'undo')
  if (back.status !== 0 || !(await readFile(file)).equals(bytes)) faults.push(`undo ends with ${back.status}, or does not give the bytes back`)
  return { outcome: faults.length > 0 ? 'failed' : 'left', faults }
}

export function comparison(was, is) {
  const said = ({ entries }) => entries.map(entry => JSON.parse(entry)).map(([, , type, message]) => ({ type, message }))
  const [before, now] = [said(was), said(is)]
  const faults = []
  if (now.length === before.length + 1 && now.at(-1).type === 'custom') now.pop() // the marker
  if (!isDeepStrictEqual(before, now)) faults.push(`the library held ${before.length} entries and holds ${now.length}, or others`)
  const [old, lane] = [was.lanes.main, is.lanes.main]
  if (old === undefined) return faults
  if (lane === undefined) return [...faults, 'there is no lane to go on in']
  if (lane.askedByResume + lane.ranByResume + is.open.length > 0) faults.push('something is left to be run')
  if (!isDeepStrictEqual(lane.sent, old.sent)) faults.push(`what is sent is not the same: ${JSON.stringify(lane.sent).slice(0, 300)}, and ${JSON.stringify(old.sent).slice(0, 300)}`)
  return faults
}

/** How many inputs wait for the next run. */
function waiting(bytes) {
  const inbox = new Map()
  for (const { writes = [] } of linesOf(bytes)) for (const { namespace, key, value } of writes) if (namespace === 'pi.lane.state') inbox.set(key, value?.inbox?.length ?? 0)
  return Math.max(0, ...inbox.values())
}
