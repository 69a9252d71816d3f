// Where logs come from: { name, bytes, began, verdict }. `began` are calls that had begun by then, undefined where nobody knows. A verdict is
// what verify must say.
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { damages } from './damages.mjs'
import { isHarness, linesOf } from './logs.mjs'
import { kill, start } from './processes.mjs'
import { runs } from './runs.mjs'

const RECORDER = fileURLToPath(new URL('recorder.mjs', import.meta.url))
/** run and call: the client is killed while the call is at work. */
const KILLED = [['one-by-one', 'a1'], ['one-by-one', 'a2'], ['at-once', 'b1'], ['at-once', 'b2'], ['at-once', 'b5'], ['two-lanes', 's1'], ['queues', 'q2'], ['deferred', 'f1']]

/** Every run, cut behind each of its lines and in some; and the same runs, killed. */
export async function ownSources(scratch, env, { names = Object.keys(runs), every = 1 } = {}) {
  const sources = []
  for (const name of names) {
    const { bytes, began } = await record(name, join(scratch, 'runs', name), env)
    sources.push(...cuts(name, bytes, began).filter((cut, n) => n % every === 0 || cut.verdict !== undefined), ...damages(name, bytes, began))
  }
  for (const [name, id] of KILLED) {
    if (!names.includes(name)) continue
    const { bytes, began } = await record(name, join(scratch, 'killed', `${name}-${id}`), env, id)
    sources.push({ name: `killed/${name}, in ${id}`, bytes, began: began.map(call => call.id) })
  }
  return sources
}

async function record(name, folder, env, last) {
  await mkdir(folder, { recursive: true })
  const child = start(process.execPath, [RECORDER, name, folder, ...last === undefined ? [] : [last]], { env, cwd: folder })
  child.stdout.resume()
  child.stderr.resume()
  const began = async () => (await readFile(join(folder, 'began.jsonl'), 'utf8').catch(() => '')).split('\n').filter(Boolean).map(line => JSON.parse(line))
  if (last !== undefined) {
    for (let n = 0; n < 1000 && !(await began()).some(({ id }) => id === last); n += 1) await pause(10)
    kill(child.pid)
  }
  const status = await child.ended
  if (last === undefined && status !== 0) throw new Error(`the run ${name} ended with ${status}`)
  const [log] = (await readdir(folder, { recursive: true })).filter(path => /^--.*\.jsonl$/.test(path))
  return { bytes: await readFile(join(folder, log)), began: await began() }
}

const isPiece = ({ writes }) => writes.every(({ namespace }) => namespace === 'pi.pending.assistant_frame')

/** Pieces of an answer follow each other by the dozen: of those every fifth is enough. */
function cuts(name, bytes, began) {
  const lines = linesOf(bytes).slice(1)
  const chosen = lines.filter((line, n) => !isPiece(line) || n % 5 === 0)
  const beganBy = size => began.filter(call => call.size <= size).map(call => call.id)
  const cut = (size, how) => ({ name: `${name}/${how}`, bytes: bytes.subarray(0, size), began: beganBy(size) })
  return chosen.flatMap(({ at, end }, n) => {
    const whole = cut(end, `${end} bytes`)
    if (end === bytes.length) whole.verdict = 'clean'
    return n % 4 === 0 ? [whole, cut(at + Math.ceil((end - at) / 2), `${end} bytes, torn`)] : [whole]
  })
}

/** Samples, among others of pi. */
export async function sharedSources(shared) {
  const folder = join(shared, 'oracles', 'pi', 'samples')
  if (!existsSync(folder)) return []
  return namedSources([folder])
}

export async function namedSources(folders) {
  const sources = []
  for (const folder of folders) {
    for (const path of (await readdir(folder, { recursive: true })).filter(name => name.endsWith('.jsonl')).sort()) {
      const bytes = await readFile(join(folder, path))
      if (isHarness(bytes)) sources.push({ name: `file/${path}`, bytes })
    }
  }
  return sources
}
