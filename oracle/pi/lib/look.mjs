// Asks the clients' session managers, in children with a deadline and a small heap.
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { PACKAGES, environment } from './client.mjs'
import { kill, start } from './processes.mjs'

const LOOKER = fileURLToPath(new URL('looker.mjs', import.meta.url))
const HEAP = 192
/** Seconds. Who does not answer is asked once more: a busy machine is slow, but a circle never ends. */
const PATIENCE = [15, 90]
const idle = { current: [], legacy: [] }

/** { messages, leaf, entries, model, thinkingLevel, file }, or { error }. The file is the child's own copy, since opening may write. More is asked for as looker.mjs says. */
export async function look(engine, file, place, more = {}) {
  for (const seconds of PATIENCE) {
    const child = idle[engine].pop() ?? open(engine, place)
    const timer = setTimeout(kill, seconds * 1000, child.pid)
    child.stdin.write(`${JSON.stringify({ file, ...more })}\n`)
    const { value, done } = await child.lines.next()
    clearTimeout(timer)
    if (done) continue
    idle[engine].push(child)
    return JSON.parse(decodeURIComponent(value))
  }
  return { error: 'hangs, or runs out of memory' }
}

export function endLookers() {
  for (const children of Object.values(idle)) children.splice(0).forEach(({ pid }) => kill(pid))
}

function open(engine, place) {
  const child = start(process.execPath, [`--max-old-space-size=${HEAP}`, LOOKER, PACKAGES[engine]], { env: environment(place), cwd: tmpdir(), stdin: 'pipe' })
  child.stderr.resume()
  return { pid: child.pid, stdin: child.stdin, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
}
