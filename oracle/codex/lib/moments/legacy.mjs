// The same in rollouts without numbers.
import { LEGACY, answered, begun, moment, running, runs, three } from './steps.mjs'

export const legacy = [
  moment('legacy: half a text is streamed', 'prompt', async (sight) => {
    await begun(LEGACY)(sight)
    ;(await sight.asked()).halfText('half a sentence')
    await sight.streamed('half a sentence')
  }),
  moment('legacy: a call runs', 'open a, call', running('a', LEGACY)),
  moment('legacy: the first of three has ended', 'open b c, output', async (sight) => {
    await three(LEGACY)(sight)
    sight.letGo('a')
    await sight.written.output('a')
  }),
  moment('legacy: the second of three has ended', 'open a b c, call', async (sight) => {
    await three(LEGACY)(sight)
    sight.letGo('b')
    await sight.ended('b')
  }),
  moment('legacy: an output waits for the next answer', 'output', answered('a', LEGACY)),
  moment('legacy: a fork runs a call', 'open a, call', async (sight) => {
    await sight.start(LEGACY)
    await sight.chat('first', 'an answer')
    await sight.fork()
    await sight.ask('in the fork')
    await runs(sight, 'a')
  }),
]
