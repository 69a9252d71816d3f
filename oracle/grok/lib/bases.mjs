// The sessions that are damaged, as recipes: what the real client writes when it is led through them. Paths are made neutral.
import { join } from 'node:path'
import { forEachOf } from './each.mjs'
import { treeOf } from './home.mjs'
import { folderOf, lead, placeIn } from './lead.mjs'
import { lives, quick, runs, three } from './steps.mjs'
import { CWD } from './trial.mjs'

/** A turn with a call, and words before and behind it. */
async function turn(sight, prompt, name, reply) {
  sight.ask(prompt)
  quick(sight, (await sight.asked()).thought('I look.').text(`I look at ${name}. `), name).end()
  ;(await sight.asked()).text(reply).end()
  await sight.done()
}

const RECIPES = {
  /** Words, a call, two calls at once. */
  talk: [lives(async (sight) => {
    await sight.start()
    await sight.chat('Who keeps the lamp?', 'Tove keeps the lamp.')
    await turn(sight, 'What is in the store?', 'a', 'Four barrels.')
    sight.ask('And on the quay?')
    quick(sight, quick(sight, await sight.asked(), 'b'), 'c').end()
    ;(await sight.asked()).text('Two boats.').end()
    await sight.done()
    await sight.pause(0.8)
  })],
  /** The second turn was taken back. */
  rewound: [lives(async (sight) => {
    await sight.start()
    await turn(sight, 'Who keeps the lamp?', 'a', 'Tove keeps the lamp.')
    await turn(sight, 'A wrong question.', 'b', 'A wrong answer.')
    await sight.rewind(1)
    await turn(sight, 'What is in the store?', 'c', 'Four barrels.')
    await sight.pause(0.8)
  })],
  /** Two turns were made a summary. */
  compacted: [lives(async (sight) => {
    await sight.start()
    await turn(sight, 'Who keeps the lamp?', 'a', 'Tove keeps the lamp.')
    await sight.chat('What is in the store?', 'Four barrels.')
    await sight.compact()
    await turn(sight, 'And on the quay?', 'b', 'Two boats.')
    await sight.pause(0.8)
  })],
  /** A sub-agent did it. */
  delegated: [lives(async (sight) => {
    await sight.start()
    sight.ask('Let another count the barrels.')
    ;(await sight.asked()).call('call_s', 'spawn_subagent', { prompt: 'Count the barrels.', description: 'counts barrels', background: false }).end()
    ;(await sight.asked()).text('There are four.').end()
    ;(await sight.asked()).text('The other says four.').end()
    await sight.done()
    await sight.pause(0.8)
  })],
  /** Killed while one of three calls has ended and two run. */
  stopped: [async (sight) => {
    await three(sight)
    sight.letGo('a')
    await sight.written.result('a')
    await sight.pause(0.3)
  }],
  /** Killed while a call runs; the client has opened it again, and closed the call in its own way. */
  reopened: [async sight => {
    await sight.start()
    sight.ask('the task')
    await runs(sight, 'a')
  }, lives(async (sight) => {
    await sight.resume()
    await sight.chat('Go on.', 'It goes on.')
    await sight.pause(0.8)
  })],
}

/** name -> files. */
export async function makeBases(names, scratch, jobs) {
  const bases = new Map()
  await forEachOf(Object.entries(RECIPES).filter(([name]) => names.has(name)), jobs, async ([name, steps]) => {
    const place = await placeIn(join(scratch, `base-${name}`))
    for (const step of steps) await lead(place, typeof step === 'function' ? { act: step } : step)
    const files = await treeOf(folderOf(place))
    bases.set(name, new Map([...files].map(([file, bytes]) => [file, neutral(bytes, place.project)])))
  })
  return bases
}

function neutral(bytes, project) {
  let text = bytes.toString('latin1')
  for (const [from, to] of [[encodeURIComponent(project), encodeURIComponent(CWD)], [project, CWD]]) text = text.replaceAll(from, to)
  return Buffer.from(text, 'latin1')
}
