// Moments of calls at the same time.
import { idOf } from '../tail.mjs'
import { begun, moment, patch, shell, three } from './steps.mjs'

export const parallel = [
  moment('three calls run', 'open a b c, call', three()),
  moment('the first of three has ended', 'open b c, output', async (sight) => {
    await three()(sight)
    sight.letGo('a')
    await sight.written.output('a')
  }),
  moment('the second of three has ended, its output waits for that of the first', 'open a b c, call', async (sight) => {
    await three()(sight)
    sight.letGo('b')
    await sight.written.finished('b')
  }),
  moment('three outputs wait for the next answer', 'output', async (sight) => {
    await three()(sight)
    for (const name of ['c', 'a', 'b']) sight.letGo(name)
    await sight.asked()
    await sight.written.output('c')
  }),
  moment('a call and a patch at once', /^open a(, call| b, call|, output)$/, async (sight) => {
    await begun()(sight)
    patch(shell(sight, await sight.asked(), 'a'), 'b').end()
    await sight.began('a')
    await sight.written.call('b')
  }),
  moment('two calls run while half of a third streams', 'open a b, call', async (sight) => {
    await begun()(sight)
    const answer = await sight.asked()
    shell(sight, answer, 'a')
    shell(sight, answer, 'b')
    answer.halfCall(idOf('c'), 'exec_command', '{"cmd":')
    await sight.began('a')
    await sight.began('b')
    await sight.written.call('b')
  }),
]
