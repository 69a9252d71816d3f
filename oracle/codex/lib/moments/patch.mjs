// Moments of the tool for patches, whose calls are of another class.
import { CAREFUL, begun, moment, patch } from './steps.mjs'

export const patches = [
  moment('a patch has been made this moment', /^(open a, call|output)$/, async (sight) => {
    await begun()(sight)
    patch(await sight.asked(), 'a').end()
    await sight.made('a.txt')
  }),
  moment('a patch has been made while its answer streams', /^(open a, call|output)$/, async (sight) => {
    await begun()(sight)
    patch((await sight.asked()).text('a step'), 'a')
    await sight.made('a.txt')
    await sight.written.call('a')
  }),
  moment('a patch waits for leave', 'open a, call', async (sight) => {
    await begun(CAREFUL)(sight)
    patch(await sight.asked(), 'a').end()
    await sight.permissionAsked()
    await sight.written.call('a')
  }),
  moment('a patch is made, its output waits for the next answer', 'output', async (sight) => {
    await begun()(sight)
    patch(await sight.asked(), 'a').end()
    await sight.asked()
    await sight.written.output('a')
  }),
]
