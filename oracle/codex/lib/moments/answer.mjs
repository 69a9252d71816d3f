// Moments of an answer that holds no call, and of a compaction.
import { begun, moment, runs } from './steps.mjs'

export const firstAnswer = [
  moment('the first request waits for an answer', 'prompt', async (sight) => {
    await begun()(sight)
    await sight.asked()
    await sight.written.prompt('the task')
  }),
  moment('half a text is streamed', 'prompt', async (sight) => {
    await begun()(sight)
    ;(await sight.asked()).halfText('half a sentence')
    await sight.streamed('half a sentence')
  }),
  moment('a thought is whole, its answer is not', 'reasoning', async (sight) => {
    await begun()(sight)
    ;(await sight.asked()).reasoning('thinking')
    await sight.written.reasoning()
  }),
  moment('a text is whole, its answer is not', 'text', async (sight) => {
    await begun()(sight)
    ;(await sight.asked()).text('all said')
    await sight.written.text('all said')
  }),
  moment('a text is whole, the next one is not', 'text', async (sight) => {
    await begun()(sight)
    ;(await sight.asked()).text('all said').halfText('and then')
    await sight.streamed('and then')
    await sight.written.text('all said')
  }),
  moment('an answer has ended', 'text', async (sight) => {
    await begun()(sight)
    ;(await sight.asked()).text('all done').end()
    await sight.done()
  }),
  moment('the service failed', 'prompt', async (sight) => {
    await begun()(sight)
    ;(await sight.asked()).fail(500, 'no')
    await sight.done()
  }),
]

export const compaction = [
  moment('a compaction waits for its summary', 'text', async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
    await sight.compact()
    await sight.asked()
  }),
  moment('a compaction is written', /^(prompt|nothing|text)$/, async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
    await sight.compact()
    ;(await sight.asked()).text('what was said').end()
    await sight.written.record('compacted')
  }),
  moment('a call runs behind a compaction', 'open a, call', async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
    await sight.compact()
    ;(await sight.asked()).text('what was said').end()
    await sight.written.record('compacted')
    await sight.told('turn/completed', ({ turn }) => turn.id !== sight.turn())
    await sight.ask('second')
    await runs(sight, 'a')
  }),
]
