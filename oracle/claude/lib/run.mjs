// Runs one program to its end, in an environment of its own. One that takes too long is ended, and with it what it
// started: it leads a process group, which is ended by its id.
import { spawn } from 'node:child_process'

const running = new Set()
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    for (const pid of running) end(pid)
    process.exit(130)
  })
}

/** { status, out, err }; status is null after `seconds`, or when it was ended by a signal. `started` gets the process. */
export function run(program, args, { env, cwd, seconds, started }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const out = []
    const err = []
    child.stdout.on('data', chunk => out.push(chunk))
    child.stderr.on('data', chunk => err.push(chunk))
    child.on('error', reject)
    if (child.pid === undefined) return
    running.add(child.pid)
    started?.(child)
    let late = false
    const timer = setTimeout(() => {
      late = true
      end(child.pid)
    }, seconds * 1000)
    child.on('close', (status) => {
      clearTimeout(timer)
      running.delete(child.pid)
      const text = Buffer.concat(err).toString().trim()
      resolve({ status: late ? null : status, out: Buffer.concat(out).toString(), err: late ? `no end within ${seconds} seconds` : text })
    })
  })
}

/** End a process group at once, by the id of the process that leads it. */
export function end(leader) {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // It is gone already.
  }
}
