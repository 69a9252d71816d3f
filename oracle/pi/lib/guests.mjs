// Clients that stay: each goes from session to session and asks its model once in each. Starting one for each takes a second of processor time.
import { rmSync } from 'node:fs'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startApi } from './api.mjs'
import { placeIn, startClient } from './client.mjs'
import { kill } from './processes.mjs'

const PATIENCE = 20
const idle = []

/** What a client sends when it goes on with these bytes: { sent, requests, before, after }. Undefined where it does not come to that. */
export async function goOnQuickly(bytesFor, prompt, fileIn) {
  const guest = idle.pop() ?? await open()
  const timer = setTimeout(kill, PATIENCE * 1000, guest.pid)
  let stays = false
  try {
    const file = await fileIn(guest.place, `${guest.visits += 1}.jsonl`)
    const before = bytesFor(guest.place)
    await writeFile(file, before)
    const asked = guest.api.requests.length
    const entered = await guest.tell({ type: 'switch_session', sessionPath: file }, ({ type, command }) => type === 'response' && command === 'switch_session')
    if (entered?.success !== true || entered.data?.cancelled === true) return undefined
    const ended = await guest.tell({ type: 'prompt', message: prompt }, ({ type, success }) => type === 'agent_end' || success === false)
    if (ended?.type !== 'agent_end') return undefined
    const requests = guest.api.requests.slice(asked)
    stays = true
    return { sent: requests[0] ?? [], requests: requests.length, before, after: await readFile(file) }
  } finally {
    clearTimeout(timer)
    if (stays) idle.push(guest)
    else end(guest)
  }
}

export const endGuests = () => idle.splice(0).forEach(end)

function end({ pid, api, folder }) {
  kill(pid)
  api.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}

/** It outlives the session that it was started for, so it has a folder of its own. */
async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'sessfix-pi-guest-'))
  const place = await placeIn(folder)
  const api = await startApi(answer => answer.text('All is done.').end())
  const client = await startClient('current', place, api, ['--mode', 'rpc', '--no-session'], { stdin: 'pipe' })
  client.stderr.resume()
  // A text with other line separators in it is read as several lines; none of them is what is waited for.
  const events = createInterface({ input: client.stdout })[Symbol.asyncIterator]()
  const tell = async (command, fits) => {
    client.stdin.write(`${JSON.stringify(command)}\n`)
    for (;;) {
      const { value, done } = await events.next()
      if (done) return undefined
      const event = eventIn(value)
      if (event !== undefined && fits(event)) return event
    }
  }
  return { pid: client.pid, folder, place, api, tell, visits: 0 }
}

function eventIn(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
