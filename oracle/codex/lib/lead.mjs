// Leads the real client to a moment that can be seen: by a request, by a notification, by a record that it wrote, or by a file
// that a command made. There it is killed.
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { answerTo } from './answer.mjs'
import { startApi } from './api.mjs'
import { openClient, placesIn } from './client.mjs'
import { commandsIn } from './commands.mjs'
import { textOf } from './history.mjs'
import { rolloutsIn } from './home.mjs'
import { libraryOf, newestOf } from './rollouts.mjs'
import { idOf } from './tail.mjs'

const PATIENCE = 20
/** A model that the client gives its tool for patches. */
const MODEL = 'gpt-5.5'

/** The moment did not come. That is no verdict on a repair. */
export class Missed extends Error {}

export async function placeIn(folder) {
  const places = placesIn(folder)
  await mkdir(places.project, { recursive: true })
  return { ...places, thread: undefined }
}

/** Run the client until `act` has seen what it waits for. Then it is killed, unless it `lives`: then it ends by itself. */
export async function lead(program, place, { act, lives = false }) {
  const waiting = []
  const commands = commandsIn(place.project)
  const api = await startApi((body, response) => {
    waiting.push(response)
    return true
  })
  const app = await openClient(program, place, api.url)
  try {
    await act(sights())
    if (lives) return await app.close()
    if (app.process.over()) throw new Missed('the client ended before it was killed')
    app.kill()
    await app.process.ended
  } finally {
    app.kill()
    await app.process.ended.catch(() => {})
    commands.letAllGo()
    api.close()
  }

  async function until(look, what) {
    for (const limit = Date.now() + PATIENCE * 1000; Date.now() < limit; await pause(15)) {
      const seen = await look()
      if (seen) return seen
      if (app.process.over()) throw new Missed(`the client ended before ${what}`)
    }
    throw new Missed(`not seen within ${PATIENCE} seconds: ${what}`)
  }

  /** A record of the thread that fits, on disk. */
  function written(what, fits) {
    return until(async () => (await own()).some(({ value }) => fits(value.payload, value.type)), `${what} was written`)
  }

  async function own() {
    return newestOf(libraryOf(await rolloutsIn(place.codex))).get(place.thread)?.records ?? []
  }

  async function told(method, fits = () => true) {
    const message = await app.seen(({ method: name, params }) => name === method && params.threadId === place.thread && fits(params), PATIENCE)
    if (message === undefined) throw new Missed(`not told within ${PATIENCE} seconds: ${method}`)
    return message.params
  }

  async function call(method, params) {
    const { thread, turn } = await app.call(method, params)
    if (thread !== undefined) place.thread = thread.id
    if (turn !== undefined) place.turn = turn.id
  }

  function sights() {
    const mine = more => ({ threadId: place.thread, ...more })
    const sight = {
      start: (more = {}) => call('thread/start', { cwd: place.project, model: MODEL, baseInstructions: 'Do what is asked.', ...more }),
      resume: () => call('thread/resume', mine({ cwd: place.project })),
      fork: (more = {}) => call('thread/fork', mine({ cwd: place.project, ...more })),
      revert: turn => call('thread/revert', mine({ beforeTurnId: turn })),
      compact: () => call('thread/compact/start', mine()),
      ask: prompt => call('turn/start', mine({ input: [{ type: 'text', text: prompt }] })),
      steer: prompt => call('turn/steer', mine({ expectedTurnId: place.turn, input: [{ type: 'text', text: prompt }] })),
      interrupt: () => call('turn/interrupt', mine({ turnId: place.turn })),
      turn: () => place.turn,
      /** The next request that nobody answered yet. */
      async asked() {
        await until(() => waiting.length > 0, 'a request')
        return answerTo(waiting.shift())
      },
      /** A whole turn without a tool. */
      async chat(prompt, words) {
        await sight.ask(prompt)
        ;(await sight.asked()).text(words).end()
        await sight.done()
      },
      /** What `act` does with another thread does not change which one is led. */
      async both(act) {
        const { thread, turn } = place
        await act()
        Object.assign(place, { thread, turn })
      },
      done: () => told('turn/completed', ({ turn }) => turn.id === place.turn),
      streamed: words => told('item/agentMessage/delta', ({ delta }) => delta.includes(words)),
      told,
      waits: name => commands.waiting(name),
      quick: name => commands.quick(name),
      began: name => until(() => commands.began(name), `${name} began`),
      ended: name => until(() => commands.ended(name), `${name} ended`),
      made: file => until(() => existsSync(join(place.project, file)), `${file} was made`),
      letGo: commands.letGo,
      async outputText(name) {
        await sight.written.output(name)
        return textOf((await own()).find(({ value: { payload } }) => payload.call_id === idOf(name) && 'output' in payload).value.payload.output)
      },
      /** The client asks a person, and gets no answer. */
      permissionAsked: () => until(() => app.asks.length > 0, 'a question to a person'),
      written: {
        prompt: words => written('the prompt', ({ role, content }) => role === 'user' && textOf(content) === words),
        text: words => written(words, ({ role, content }) => role === 'assistant' && textOf(content) === words),
        reasoning: () => written('the reasoning', ({ type }) => type === 'reasoning'),
        call: name => written(`call ${name}`, ({ type, call_id }) => /_call$/.test(type) && call_id === idOf(name)),
        output: name => written(`the output of ${name}`, ({ type, call_id }) => /_output$/.test(type) && call_id === idOf(name)),
        /** The tool's own report, which people see. */
        finished: name => written(`the report of ${name}`, ({ type, item }) => type === 'item_completed' && item.id === idOf(name)),
        event: kind => written(kind, ({ type }) => type === kind),
        record: kind => written(kind, (payload, type) => type === kind),
      },
    }
    return sight
  }
}
