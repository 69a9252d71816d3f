// Asks the real library, in a child with a deadline.
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { kill, start } from './processes.mjs'

const OPENER = fileURLToPath(new URL('opener.mjs', import.meta.url))
const idle = []

/** What opener.mjs says of the file; { error } when it does not answer within 20 seconds. */
export async function opened(file, env) {
  const child = idle.pop() ?? begin(env)
  const timer = setTimeout(kill, 20_000, child.pid)
  child.stdin.write(`${file}\n`)
  const { value, done } = await child.lines.next()
  clearTimeout(timer)
  if (done) return { error: 'hangs, or ends', ran: [] }
  idle.push(child)
  return JSON.parse(decodeURIComponent(value))
}

export function endOpeners() {
  for (const { pid } of idle.splice(0)) kill(pid)
}

function begin(env) {
  const child = start(process.execPath, ['--max-old-space-size=256', OPENER], { env, cwd: env.HOME, stdin: 'pipe' })
  child.stderr.resume()
  return { pid: child.pid, stdin: child.stdin, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
}
