// What recipes and moments are made of: steps of a run of the client, each of which is seen.
import { SHELL, idOf } from './lead.mjs'

export const shell = (sight, answer, name, more) => answer.call(idOf(name), SHELL, { command: sight.waits(name), description: `runs ${name}`, ...more })
export const quick = (sight, answer, name) => answer.call(idOf(name), SHELL, { command: sight.quick(name), description: `runs ${name}` })

export const begun = (prompt = 'the task') => async (sight) => {
  await sight.start()
  await sight.ask(prompt)
}

/** One call runs, and the answer that asks for it has ended. */
export const running = name => async (sight) => {
  await begun()(sight)
  await runs(sight, name)
}

export async function runs(sight, name) {
  shell(sight, (await sight.asked()).text(`now ${name}`), name).end()
  await sight.began(name)
}

/** A call has ended, and the next request, with its result, waits for an answer. */
export const answered = name => async (sight) => {
  await running(name)(sight)
  sight.letGo(name)
  const next = await sight.asked()
  await sight.written.result(name)
  return next
}

export const three = async (sight) => {
  await begun()(sight)
  const answer = (await sight.asked()).text('three at once')
  for (const name of ['a', 'b', 'c']) shell(sight, answer, name)
  answer.end()
  for (const name of ['a', 'b', 'c']) await sight.began(name)
}

export const again = act => async (sight) => {
  await sight.resume()
  await sight.ask('once more')
  return act(sight)
}

/** A run of the client that ends by itself. */
export const lives = act => ({ act, lives: true })
/** Between two runs sessfix repairs the session. */
export const repaired = { repair: true }
