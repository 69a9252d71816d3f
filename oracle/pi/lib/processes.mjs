// Programs under test. Each leads a process group, so that it can be ended with all that it started, by its own id.
import { spawn } from 'node:child_process'

const leaders = new Set()
process.on('exit', () => leaders.forEach(kill))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))

/** A running program: { pid, stdin, stdout, stderr, over(), ended }; `ended` gives its exit status, null after a signal. */
export function start(program, args, { env, cwd, stdin = 'ignore' }) {
  const child = spawn(program, args, { env, cwd, detached: true, stdio: [stdin, 'pipe', 'pipe'] })
  let over = false
  if (child.pid !== undefined) leaders.add(child.pid)
  const ended = new Promise((resolve, reject) => {
    child.once('exit', () => { over = true })
    child.once('error', reject)
    child.once('close', (status) => {
      leaders.delete(child.pid)
      resolve(status)
    })
  })
  ended.catch(() => { over = true })
  child.stdin?.on('error', () => {})
  return { pid: child.pid, stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, over: () => over, ended }
}

/** End a group at once, by the id of its leader. */
export function kill(pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody is left in it.
  }
}

/** Run a program to its end: { status, out, err }. The status is null when it had to be ended after `seconds`. */
export async function run(program, args, { env, cwd, seconds = 60 }) {
  const child = start(program, args, { env, cwd })
  const [out, err] = [child.stdout, child.stderr].map(gather)
  const timer = setTimeout(kill, seconds * 1000, child.pid)
  const status = await child.ended
  clearTimeout(timer)
  return { status, out: await out, err: status === null ? `ended by a signal, or after ${seconds} seconds` : (await err).trim() }
}

export async function gather(stream) {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
