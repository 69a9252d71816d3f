// What the moments are made of: runs of the client that come to a place, by steps that are seen.
import { idOf } from '../tail.mjs'

/** A run of the client that ends by itself. */
export const lives = act => ({ act, lives: true })
/** Between two runs sessfix repairs the home. */
export const repaired = { repair: true }
export const moment = (name, left, ...steps) => ({ name, left, steps: steps.map(step => typeof step === 'function' ? { act: step } : step) })

export const PATIENT = { yield_time_ms: 30_000 }
export const shell = (sight, answer, name, more = PATIENT) => answer.call(idOf(name), 'exec_command', { cmd: sight.waits(name), ...more })
export const patch = (answer, name) => answer.custom(idOf(name), 'apply_patch', `*** Begin Patch\n*** Add File: ${name}.txt\n+made by ${name}\n*** End Patch\n`)

export const begun = (more, prompt = 'the task') => async (sight) => {
  await sight.start(more)
  await sight.ask(prompt)
}

/** One call runs, and the answer that asks for it has ended. */
export const running = (name, more) => async (sight) => {
  await begun(more)(sight)
  await runs(sight, name)
}

export async function runs(sight, name) {
  shell(sight, (await sight.asked()).text(`now ${name}`), name).end()
  await sight.began(name)
  await sight.written.call(name)
}

/** A call has ended, and the next request, with its output, waits for an answer. */
export const answered = (name, more) => async (sight) => {
  await running(name, more)(sight)
  sight.letGo(name)
  const next = await sight.asked()
  await sight.written.output(name)
  return next
}

export const again = act => async (sight) => {
  await sight.resume()
  await sight.ask('once more')
  return act(sight)
}

export const three = more => async (sight) => {
  await begun(more)(sight)
  const answer = await sight.asked()
  for (const name of ['a', 'b', 'c']) shell(sight, answer, name)
  answer.end()
  for (const name of ['a', 'b', 'c']) await sight.began(name)
  await sight.written.call('c')
}

export const LEGACY = { historyMode: 'legacy' }
export const CAREFUL = { approvalPolicy: 'untrusted', sandbox: 'read-only' }
