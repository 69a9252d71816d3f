// Leads the real client to a moment that can be seen: by a request, by what it prints, by a record that it wrote, or by a file that a
// command made. There it is killed. It is driven through its own line protocol (`--mode rpc`).
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startApi } from './api.mjs'
import { startClient } from './client.mjs'
import { commandsIn } from './commands.mjs'
import { kill } from './processes.mjs'
import { wholeRecords } from './records.mjs'
import { itemsOf, turnsOfRecord } from './turns.mjs'

const PATIENCE = 15

/** The moment did not come. That is no verdict on a repair. */
export class Missed extends Error {}

/** The only session of a place; undefined while there is none. */
export async function sessionOf(place) {
  const names = await readdir(place.sessions, { recursive: true }).catch(() => [])
  const files = names.filter(name => name.endsWith('.jsonl'))
  return files.length === 0 ? undefined : join(place.sessions, files[0])
}

/** Run the client until `act` has seen what it waits for. Then it is killed, unless it `lives`: then it ends by itself. */
export async function lead(place, { act, engine = 'current', lives = false, room }) {
  const waiting = []
  const commands = commandsIn(place.project)
  const api = await startApi(answer => waiting.push(answer))
  const file = await sessionOf(place)
  const size = file === undefined ? 0 : (await readFile(file)).length
  const fileBlocks = room === undefined ? undefined : Math.ceil((size + room) / 512)
  const client = await startClient(engine, place, api, ['--mode', 'rpc', ...file === undefined ? [] : ['--session', file]], { stdin: 'pipe', fileBlocks })
  let printed = ''
  client.stdout.on('data', (chunk) => { printed += chunk })
  client.stderr.resume()
  try {
    await act(sights())
    if (lives) client.stdin.end()
    else if (client.over() && room === undefined) throw new Missed('the client ended before it was killed')
    else kill(client.pid)
    const timer = setTimeout(kill, PATIENCE * 1000, client.pid)
    await client.ended
    clearTimeout(timer)
  } finally {
    kill(client.pid)
    commands.letAllGo()
    await client.ended.catch(() => {})
    api.close()
  }

  async function until(look, what) {
    for (const limit = Date.now() + PATIENCE * 1000; Date.now() < limit; await pause(15)) {
      if (await look()) return
      if (client.over()) throw new Missed(`the client ended before ${what}`)
    }
    throw new Missed(`not seen within ${PATIENCE} seconds: ${what}`)
  }

  async function items() {
    const own = await sessionOf(place)
    return own === undefined ? [] : wholeRecords(await readFile(own)).flatMap(({ value }) => [{ type: value.type }, ...itemsOf(turnsOfRecord(value))])
  }

  function sights() {
    const written = fits => until(async () => (await items()).some(fits), 'a record was written')
    const tell = (type, more = {}) => void client.stdin.write(`${JSON.stringify({ type, ...more })}\n`)
    const sight = {
      tell,
      ask: message => tell('prompt', { message }),
      /** The next request that nobody answered yet. */
      async asked() {
        await until(() => waiting.length > 0, 'a request')
        return waiting.shift()
      },
      /** Give the same answer to all that is asked, until `seen`. */
      async answerAll(words, seen) {
        const timer = setInterval(() => waiting.splice(0).forEach(answer => answer.text(words).end()), 15)
        await seen.finally(() => clearInterval(timer))
      },
      /** A whole turn without a tool. */
      async chat(prompt, words) {
        sight.ask(prompt)
        ;(await sight.asked()).text(words).end()
        await written(({ text }) => text === words)
        await sight.printed('"agent_end"')
      },
      printed: words => until(() => printed.includes(words), `it printed ${words}`),
      over: () => until(() => client.over(), 'its end').catch(() => {}),
      waits: commands.waits,
      quick: commands.quick,
      letGo: commands.letGo,
      began: id => until(() => commands.began(id), `${id} began`),
      ended: id => until(() => commands.ended(id), `${id} ended`),
      written: {
        prompt: words => written(({ role, text }) => role === 'user' && text === words),
        text: words => written(({ role, text }) => role === 'assistant' && text === words),
        call: id => written(({ call }) => call === id),
        result: id => written(({ result }) => result === id),
        record: kind => written(({ type }) => type === kind),
      },
    }
    return sight
  }
}
