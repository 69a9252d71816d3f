// Moments of threads that have relatives or a past.
import { again, lives, moment, repaired, running, runs, three } from './steps.mjs'

export const family = [
  moment('a second turn runs a call', 'open a, call', async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
    await sight.ask('second')
    await runs(sight, 'a')
  }),
  moment('a fork is made', 'text', async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
    await sight.fork()
    await sight.chat('in the fork', 'another answer')
  }),
  moment('a fork runs a call', 'open a, call', async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
    await sight.fork()
    await sight.ask('in the fork')
    await runs(sight, 'a')
  }),
  moment('a parent runs a call, its fork is there', 'open a, call', async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
    await sight.both(async () => {
      await sight.fork()
      await sight.chat('in the fork', 'another answer')
    })
    await sight.ask('second')
    await runs(sight, 'a')
  }),
  moment('a reverted thread runs a call', 'open a, call', async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
    await sight.chat('second', 'a wrong answer')
    await sight.revert(sight.turn())
    await sight.ask('second again')
    await runs(sight, 'a')
  }),
]

export const moreThanOnce = [
  moment('a resumed session waits for a prompt', 'text', lives(async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
  }), sight => sight.resume()),
  moment('killed twice, each time while a call runs', 'open a b, call', running('a'), again(sight => runs(sight, 'b'))),
  moment('killed twice, the second time while a text streams', 'open a, prompt', running('a'), again(async (sight) => {
    ;(await sight.asked()).halfText('half a sentence')
    await sight.streamed('half a sentence')
  })),
  moment('killed, repaired, resumed and killed', 'open b, call', running('a'), repaired, again(sight => runs(sight, 'b'))),
  moment('killed among three, repaired, resumed and killed at an output', 'output', three(), repaired, again(async (sight) => {
    await runs(sight, 'd')
    sight.letGo('d')
    await sight.asked()
    await sight.written.output('d')
  })),
]
