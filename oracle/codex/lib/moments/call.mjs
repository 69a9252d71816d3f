// Moments of one call.
import { idOf } from '../tail.mjs'
import { CAREFUL, answered, begun, moment, running, shell } from './steps.mjs'

export const oneCall = [
  moment('half a call is streamed', 'text', async (sight) => {
    await begun()(sight)
    ;(await sight.asked()).text('a step').halfCall(idOf('a'), 'exec_command', '{"cmd":": > a')
    await sight.written.text('a step')
  }),
  moment('a call runs while its answer streams', 'open a, call', async (sight) => {
    await begun()(sight)
    shell(sight, (await sight.asked()).text('a step'), 'a')
    await sight.began('a')
    await sight.written.call('a')
  }),
  moment('a call has ended while its answer streams', /^(open a, call|output)$/, async (sight) => {
    await begun()(sight)
    shell(sight, (await sight.asked()).text('a step'), 'a')
    await sight.began('a')
    sight.letGo('a')
    await sight.ended('a')
  }),
  moment('a call runs', 'open a, call', running('a')),
  moment('the connection broke while a call ran', /^(open a, call|output)$/, async (sight) => {
    await begun()(sight)
    const answer = shell(sight, (await sight.asked()).text('a step'), 'a')
    await sight.began('a')
    await sight.written.call('a')
    answer.cut()
  }),
  moment('a call has ended this moment', /^(open a, call|output)$/, async (sight) => {
    await running('a')(sight)
    sight.letGo('a')
    await sight.ended('a')
  }),
  moment('the tool has told people, not yet the model', /^(open a, call|output)$/, async (sight) => {
    await running('a')(sight)
    sight.letGo('a')
    await sight.written.finished('a')
  }),
  moment('an output waits for the next answer', 'output', answered('a')),
  moment('half a text after an output', 'output', async (sight) => {
    ;(await answered('a')(sight)).halfText('it says')
    await sight.streamed('it says')
  }),
  moment('a second call runs while its answer streams', 'open b, call', async (sight) => {
    shell(sight, await answered('a')(sight), 'b')
    await sight.began('b')
    await sight.written.call('b')
  }),
  moment('a call waits for leave', 'open a, call', async (sight) => {
    await begun(CAREFUL)(sight)
    shell(sight, await sight.asked(), 'a').end()
    await sight.permissionAsked()
    await sight.written.call('a')
  }),
  moment('a person adds a word while a call runs', 'open a, call', async (sight) => {
    await running('a')(sight)
    await sight.steer('and hurry')
  }),
  moment('a person has stopped a call', /^(output|nothing)$/, async (sight) => {
    await running('a')(sight)
    await sight.interrupt()
    await sight.done()
    await sight.written.event('turn_aborted')
  }),
]

export const background = [
  moment('a command runs on in the background', 'output', async (sight) => {
    await begun()(sight)
    shell(sight, await sight.asked(), 'a', { yield_time_ms: 250 }).end()
    await sight.asked()
    await sight.began('a')
    await sight.written.output('a')
  }),
  moment('the client waits for a command in the background', 'open b, call', async (sight) => {
    await begun()(sight)
    shell(sight, await sight.asked(), 'a', { yield_time_ms: 250 }).end()
    const next = await sight.asked()
    const session = /session ID (\d+)/.exec(await sight.outputText('a'))?.[1]
    next.call(idOf('b'), 'write_stdin', { session_id: Number(session), chars: '', yield_time_ms: 30_000 }).end()
    await sight.written.call('b')
  }),
]
