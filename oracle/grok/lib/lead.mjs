// Leads the real client to a moment that can be seen: by a request, by an update, by a record that it wrote, or by a file that a
// command made. There it is killed.
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { answerTo } from './answer.mjs'
import { startApi } from './api.mjs'
import { groupOf, openClient, placesIn } from './client.mjs'
import { commandsIn } from './commands.mjs'
import { recordsOf } from './lines.mjs'
import { HISTORY, LOG, updateOf } from './session.mjs'

const PATIENCE = 20

/** The moment did not come. That is no verdict on a repair. */
export class Missed extends Error {}

export const SHELL = 'run_terminal_command'
export const idOf = name => `call_${name}`

export async function placeIn(folder) {
  await rm(folder, { recursive: true, force: true })
  const places = placesIn(folder)
  await mkdir(places.project, { recursive: true })
  return { ...places, session: undefined }
}

export const folderOf = place => join(groupOf(place, place.project), String(place.session))

/** Run the client until `act` has seen what it waits for. Then it is killed, unless it `lives`: then it ends by itself. */
export async function lead(place, { act, lives = false, asks = false }) {
  const waiting = []
  const aside = []
  const commands = commandsIn(place.project)
  const holds = { summary: false }
  const api = await startApi((messages, response) => waiting.push({ messages, response }), (kind, response) => holds[kind] && aside.push(response))
  const agent = await openClient(place, api.url, { asks })
  let prompt
  try {
    await act(sights())
    if (lives) return await agent.close()
    if (agent.process.over()) throw new Missed('the client ended before it was killed')
    agent.kill()
    await agent.process.ended
  } finally {
    agent.kill()
    await agent.process.ended.catch(() => {})
    commands.letAllGo()
    api.close()
  }

  async function until(look, what) {
    for (const limit = Date.now() + PATIENCE * 1000; Date.now() < limit; await pause(15)) {
      const seen = await look()
      if (seen) return seen
      if (agent.process.over()) throw new Missed(`the client ended before ${what}`)
    }
    throw new Missed(`not seen within ${PATIENCE} seconds: ${what}`)
  }

  async function records(file) {
    return recordsOf(await readFile(join(folderOf(place), file)).catch(() => Buffer.alloc(0))).map(({ value }) => value)
  }

  function inHistory(fits, what) {
    return until(async () => (await records(HISTORY)).some(fits), `${what} was written`)
  }

  function inLog(fits, what) {
    return until(async () => (await records(LOG)).some(value => fits(updateOf(value))), `${what} was logged`)
  }

  function sights() {
    const mine = more => ({ sessionId: place.session, ...more })
    const sight = {
      async start() {
        ({ sessionId: place.session } = await agent.call('session/new', { cwd: place.project, mcpServers: [] }))
      },
      resume: () => agent.call('session/load', mine({ cwd: place.project, mcpServers: [] })),
      ask(text) {
        prompt = agent.call('session/prompt', mine({ prompt: [{ type: 'text', text }] }), PATIENCE)
        prompt.catch(() => {})
      },
      /** The turn has ended, or failed. */
      done: () => prompt.catch((error) => { if (error.message.includes('no answer within')) throw new Missed('the turn did not end') }),
      cancel: () => agent.tell('session/cancel', mine()),
      rewind: target => agent.call('_x.ai/rewind/execute', mine({ targetPromptIndex: target, force: true, mode: 'conversation_only' })),
      compact: () => agent.call('_x.ai/compact_conversation', mine()),
      /** A compaction whose summary does not come. */
      async compactInVain() {
        holds.summary = true
        sight.compact().catch(() => {})
        await until(() => aside.length > 0, 'a summary was asked for')
      },
      /** The next request that nobody answered yet. */
      async asked() {
        await until(() => waiting.length > 0, 'a request')
        return answerTo(waiting.shift().response)
      },
      /** A whole turn without a tool. */
      async chat(words, reply) {
        sight.ask(words)
        ;(await sight.asked()).text(reply).end()
        await sight.done()
      },
      streamed: words => until(() => agent.updates(place.session).map(({ update }) => update.sessionUpdate === 'agent_message_chunk' ? update.content.text : '').join('').includes(words), `${words} was streamed`),
      waits: name => commands.waits(name),
      quick: name => commands.quick(name),
      began: name => until(() => commands.began(name), `${name} began`),
      ended: name => until(() => commands.ended(name), `${name} ended`),
      made: file => until(() => existsSync(join(place.project, file)), `${file} was made`),
      letGo: commands.letGo,
      /** The client asks a person for the n-th time. */
      questioned: n => until(() => agent.asks[n], `question ${n}`),
      allow: async n => agent.answer(await sight.questioned(n), /allow_once/),
      deny: async n => agent.answer(await sight.questioned(n), /reject_once/),
      written: {
        prompt: words => inHistory(({ type, content }) => type === 'user' && JSON.stringify(content).includes(words), 'the prompt'),
        text: words => inHistory(({ type, content }) => type === 'assistant' && content === words, words),
        call: name => inHistory(({ tool_calls: calls }) => calls?.some(({ id }) => id === idOf(name)), `call ${name}`),
        result: name => inHistory(({ type, tool_call_id: id }) => type === 'tool_result' && id === idOf(name), `the result of ${name}`),
      },
      logged: {
        text: words => inLog(({ sessionUpdate: kind, content }) => kind === 'agent_message_chunk' && content.text.includes(words), words),
        call: name => inLog(({ sessionUpdate: kind, toolCallId: id }) => kind === 'tool_call' && id === idOf(name), `call ${name}`),
        end: name => inLog(({ toolCallId: id, status }) => id === idOf(name) && status === 'completed', `the end of ${name}`),
        kind: kind => inLog(({ sessionUpdate }) => sessionUpdate === kind, kind),
      },
      pause: seconds => pause(seconds * 1000),
    }
    return sight
  }
}
