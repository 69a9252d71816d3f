// The moments at which the client is killed: { name, left, steps }. `left` is what is then on disk, in the words of tail.mjs, so that
// a case that misses its moment is found out.
import { again, answered, begun, lives, quick, repaired, running, runs, shell, three } from './steps.mjs'

const moment = (name, left, ...steps) => ({ name, left, steps: steps.map(step => typeof step === 'function' ? { act: step } : step) })
const asking = act => ({ act, asks: true })

const firstAnswer = [
  moment('the first request waits for an answer', 'prompt', async (sight) => {
    await begun()(sight)
    await sight.asked()
  }),
  moment('half a text is streamed', 'prompt', async (sight) => {
    await begun()(sight)
    ;(await sight.asked()).text('half a sentence')
    await sight.streamed('half a sentence')
  }),
  moment('half a call is streamed', 'prompt', async (sight) => {
    await begun()(sight)
    ;(await sight.asked()).text('a step').halfCall('call_a', 'run_terminal_command', '{"command":": > a')
    await sight.streamed('a step')
  }),
  moment('the service refused', 'prompt', async (sight) => {
    await begun()(sight)
    ;(await sight.asked()).fail(400)
    await sight.done()
  }),
  moment('an answer has ended this moment', /^(text|prompt)$/, async (sight) => {
    await begun()(sight)
    ;(await sight.asked()).text('all done').end()
    await sight.streamed('all done')
  }),
  moment('between two turns', 'text', async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
    await sight.pause(0.5)
  }),
]

const oneCall = [
  moment('a call runs', 'open a, call', running('a')),
  moment('a call has ended this moment', /^(open a, call|result)$/, async (sight) => {
    await running('a')(sight)
    sight.letGo('a')
    await sight.ended('a')
  }),
  moment('a result waits for the next answer', 'result', answered('a')),
  moment('half a text after a result', 'result', async (sight) => {
    ;(await answered('a')(sight)).text('it says')
    await sight.streamed('it says')
  }),
  moment('a second call of a turn runs', 'open b, call', async (sight) => {
    shell(sight, (await answered('a')(sight)).text('now b'), 'b').end()
    await sight.began('b')
  }),
  moment('a file has been made this moment', /^(open a, call|result)$/, async (sight) => {
    await begun()(sight)
    ;(await sight.asked()).call('call_a', 'write', { file_path: 'a.began', content: 'made by a tool for files' }).end()
    await sight.made('a.began')
  }),
  moment('a command runs in the background, its turn waits', 'result', async (sight) => {
    await begun()(sight)
    shell(sight, await sight.asked(), 'a', { background: true }).end()
    await sight.asked()
    await sight.written.result('a')
  }),
  moment('a person stops a call that runs', 'result', async (sight) => {
    await running('a')(sight)
    sight.cancel()
    await sight.done()
    await sight.written.result('a')
  }),
]

const questions = [
  moment('a call waits for leave', 'open a, call', asking(async (sight) => {
    await begun()(sight)
    shell(sight, await sight.asked(), 'a').end()
    await sight.questioned(0)
    await sight.written.call('a')
  })),
  moment('one of two has leave, the other waits for it', 'open a b, call', asking(async (sight) => {
    await begun()(sight)
    shell(sight, shell(sight, await sight.asked(), 'a'), 'b').end()
    await sight.allow(0)
    await sight.questioned(1)
    await sight.written.call('b')
  })),
  moment('both have leave and run', 'open a b, call', asking(async (sight) => {
    await begun()(sight)
    shell(sight, shell(sight, await sight.asked(), 'a'), 'b').end()
    await sight.allow(0)
    await sight.allow(1)
    await sight.began('a')
    await sight.began('b')
  })),
  moment('a person said no to the first of two', 'result', asking(async (sight) => {
    await begun()(sight)
    shell(sight, shell(sight, await sight.asked(), 'a'), 'b').end()
    await sight.deny(0)
    await sight.written.result('b')
  })),
]

const atOnce = [
  moment('three calls run', 'open a b c, call', three),
  moment('the first of three has ended', 'open b c, result', async (sight) => {
    await three(sight)
    sight.letGo('a')
    await sight.written.result('a')
  }),
  moment('the second of three has ended this moment', /^open a (b )?c, (call|result)$/, async (sight) => {
    await three(sight)
    sight.letGo('b')
    await sight.ended('b')
  }),
  moment('the third of three has ended', /^open a b( c)?, (call|result)$/, async (sight) => {
    await three(sight)
    sight.letGo('c')
    await sight.ended('c')
    await sight.pause(0.5)
  }),
  moment('three results wait for the next answer', 'result', async (sight) => {
    await three(sight)
    for (const name of ['c', 'a', 'b']) sight.letGo(name)
    await sight.asked()
    await sight.written.result('b')
  }),
]

const laterTurns = [
  moment('a second turn runs a call', 'open a, call', async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
    await sight.ask('second')
    await runs(sight, 'a')
  }),
  moment('a call runs behind a turn that was taken back', 'open b, call', async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
    await sight.chat('second', 'a wrong answer')
    await sight.rewind(1)
    await sight.ask('second again')
    await runs(sight, 'b')
  }),
  moment('a turn was taken back this moment', 'text', async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
    await sight.ask('second')
    quick(sight, await sight.asked(), 'z').end()
    ;(await sight.asked()).text('a wrong answer').end()
    await sight.done()
    await sight.rewind(1)
  }),
  moment('a compaction waits for its summary', 'text', async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
    await sight.chat('second', 'another answer')
    await sight.compactInVain()
  }),
  moment('a call runs behind a compaction', 'open a, call', async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
    await sight.chat('second', 'another answer')
    await sight.compact()
    await sight.ask('third')
    await runs(sight, 'a')
  }),
  moment('a sub-agent runs', 'open s, call', async (sight) => {
    await begun()(sight)
    ;(await sight.asked()).call('call_s', 'spawn_subagent', { prompt: 'Count the barrels.', description: 'counts barrels', background: false }).end()
    await sight.asked()
    await sight.logged.kind('subagent_spawned')
  }),
  moment('a sub-agent runs a call', 'open s, call', async (sight) => {
    await begun()(sight)
    ;(await sight.asked()).call('call_s', 'spawn_subagent', { prompt: 'Count the barrels.', description: 'counts barrels', background: false }).end()
    shell(sight, await sight.asked(), 'z').end()
    await sight.began('z')
  }),
]

const moreThanOnce = [
  moment('a resumed session waits for a prompt', 'text', lives(async (sight) => {
    await sight.start()
    await sight.chat('first', 'an answer')
  }), sight => sight.resume()),
  moment('killed while a call runs, opened and killed', /result|reminder/, running('a'), async (sight) => {
    await sight.resume()
    await sight.pause(0.5)
  }),
  moment('killed twice, each time while a call runs', 'open b, call', running('a'), again(sight => runs(sight, 'b'))),
  moment('killed, repaired, resumed and killed', 'open b, call', running('a'), repaired, again(sight => runs(sight, 'b'))),
  moment('killed among three, repaired, resumed and killed at a result', 'result', three, repaired, again(async (sight) => {
    await runs(sight, 'd')
    sight.letGo('d')
    await sight.asked()
    await sight.written.result('d')
  })),
]

export const moments = [...firstAnswer, ...oneCall, ...questions, ...atOnce, ...laterTurns, ...moreThanOnce]
