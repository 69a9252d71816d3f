// node crash.mjs BIN|--as-is [--jobs N] [--keep DIR] [--only WORD] [--every N]: kills the real client at many moments, lets BIN repair what it left,
// and asks the real client about the result. One line for each fault; the last line counts. Exit 1 when one failed, or when more
// than a tenth of the moments did not come.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { findProgram } from './lib/client.mjs'
import { commandsIn } from './lib/commands.mjs'
import { forEachOf } from './lib/each.mjs'
import { rolloutsIn } from './lib/home.mjs'
import { Missed, lead, placeIn } from './lib/lead.mjs'
import { moments } from './lib/moments.mjs'
import { faultsOfRepair, repairIn } from './lib/proof.mjs'
import { libraryOf, newestOf } from './lib/rollouts.mjs'
import { endOf } from './lib/tail.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'as-is': { type: 'boolean', default: false }, 'jobs': { type: 'string', default: '2' }, 'keep': { type: 'string' }, 'only': { type: 'string', default: '' }, 'every': { type: 'string', default: '1' } },
})
const jobs = Number(values.jobs)
const [binary] = positionals
const program = await findProgram()
const wrong = positionals.length !== (values['as-is'] ? 0 : 1) || !(jobs >= 1 && jobs <= 6)
if (wrong || (binary !== undefined && !existsSync(binary)) || program === undefined) {
  const usage = 'usage: node crash.mjs BIN|--as-is [--jobs 1 to 6] [--keep DIR] [--only WORD] [--every N]'
  console.error(wrong ? usage : `crash.mjs: ${program === undefined ? 'the client' : binary} is not there`)
  process.exit(2)
}
const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-crash-')) : resolve(values.keep)
await mkdir(scratch, { recursive: true })
if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

const TRIES = 4
const tally = { passed: 0, failed: 0, missed: 0 }
await forEachOf(moments.filter(({ name }, n) => name.includes(values.only) && n % Number(values.every) === 0), jobs, async (moment, n) => {
  const folder = join(scratch, `${String(n).padStart(2, '0')}-${moment.name.replace(/[^a-z]+/g, '-')}`)
  const { left, faults = [], missed } = await trial(moment, folder).catch(error => ({ faults: [`no verdict: ${error.message}`] }))
  const failed = missed === undefined && (left === undefined || (binary !== undefined && faults.length > 0))
  tally[missed !== undefined ? 'missed' : failed ? 'failed' : 'passed'] += 1
  if (missed !== undefined) console.log(`MISSED ${moment.name}: ${missed}`)
  if (values['as-is'] && left !== undefined) console.log(`left ${moment.name}: ${left}`)
  for (const fault of faults) console.log(`${failed ? 'FAIL' : 'is  '} ${moment.name}: ${fault}`)
  if (values.keep === undefined) for (let again = 1; again <= TRIES; again += 1) await rm(`${folder}-${again}`, { recursive: true, force: true, maxRetries: 3 })
})
console.log(`crash: ${tally.passed} passed, ${tally.failed} failed, ${tally.missed} missed`)
process.exit(tally.failed > 0 || tally.missed * 10 > tally.passed ? 1 : 0)

/** A busy machine can let a moment pass. That is no verdict on a repair, but where many do, nothing was tried. */
async function trial(moment, folder) {
  for (let again = 1; ; again += 1) {
    try {
      return await once(moment, `${folder}-${again}`)
    } catch (error) {
      if (!(error instanceof Missed)) throw error
      if (again === TRIES) return { missed: error.message }
    }
  }
}

async function once({ left: expected, steps }, folder) {
  const place = await placeIn(join(folder, 'killed'))
  for (const step of steps) {
    if (!step.repair) await lead(program, place, step)
    else if (binary === undefined) return { left: 'not tried without a repair', faults: [] }
    else {
      const faults = await repairIn(resolve(binary), place)
      if (faults.length > 0) return { left: '', faults }
    }
  }
  const library = libraryOf(await rolloutsIn(place.codex))
  const left = endOf(library, newestOf(library).get(place.thread), commandsIn(place.project).allThatBegan())
  if (typeof expected === 'string' ? left !== expected : !expected.test(left)) throw new Missed(`the client left "${left}"`)
  return { left, faults: await faultsOfRepair(binary && resolve(binary), place, folder) }
}
