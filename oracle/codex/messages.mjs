// node messages.mjs BIN [PATH…] [--also PATH…] [--healthy DIR] [--shared DIR] [--only WORD] [--every N] [--jobs N] [--keep DIR]: lets BIN
// export each thread as a provider's messages, repairs it, exports it again, and lets the real client go on with it. Both exports must
// say the same, and say what the client sends. One line for each fault; the last line counts.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ask, PROMPT } from './lib/ask.mjs'
import { isAbout, isRefused, sessfix } from './lib/binary.mjs'
import { findProgram, placesIn } from './lib/client.mjs'
import { damagedSources, healthySources } from './lib/damaged.mjs'
import { forEachOf } from './lib/each.mjs'
import { differences, exported } from './lib/exported.mjs'
import { age, rolloutsIn, settle } from './lib/home.mjs'
import { askedId, libraryOf, newestOf } from './lib/rollouts.mjs'
import { legacySources } from './lib/older.mjs'
import { spokenSources } from './lib/spoken.mjs'
import { namedSources, sharedSources } from './lib/sources.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    healthy: { type: 'string' }, shared: { type: 'string' }, also: { type: 'string', multiple: true, default: [] }, only: { type: 'string', default: '' },
    jobs: { type: 'string', default: '2' }, every: { type: 'string', default: '1' }, keep: { type: 'string' },
  },
})
const [binary, ...paths] = positionals
const program = await findProgram()
if (binary === undefined || !existsSync(binary) || program === undefined) {
  console.error('usage: node messages.mjs BIN [PATH…] [--also PATH…] [--healthy DIR] [--shared DIR] [--only WORD] [--every N] [--jobs 1 to 6] [--keep DIR]')
  process.exit(2)
}
const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-messages-')) : resolve(values.keep)
await mkdir(scratch, { recursive: true })
if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

/** The client reads no rollout without envelopes. */
const BARE = /no rollout|is empty/
/** A damaged parent's beginning cannot be had in front of its repair. */
const CUT_SHORT = /its beginning stands in another file/
/** Of turns that are taken back across a summary the client makes several things. */
const TWOFOLD = /taken back across a summary$|behind a summary, without turns$/
const tally = { passed: 0, refused: 0, failed: 0 }
const sources = (await allSources()).filter(({ name, lived }) => name.includes(values.only) && !lived).filter((_, n) => n % Number(values.every) === 0)
if (sources.length === 0) console.log('SKIPPED: no sessions here, and none named')
await forEachOf(sources, Number(values.jobs), async (source, n) => {
  const folder = join(scratch, String(n).padStart(3, '0'))
  const tell = (thread, outcome, faults) => {
    tally[faults.length > 0 ? 'failed' : outcome] += 1
    for (const fault of faults) console.log(`FAIL ${source.name}, ${thread}: ${fault}`)
  }
  await trial(source, folder, tell).catch(error => tell('all', 'failed', [`no verdict: ${error.stack}`]))
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
console.log(`messages: ${tally.passed} passed, ${tally.refused} refused, ${tally.failed} failed`)
process.exit(tally.failed > 0 ? 1 : 0)

async function allSources() {
  const out = []
  if (values.healthy !== undefined) out.push(...await healthySources(values.healthy), ...(await damagedSources(values.healthy)).filter(({ unseen }) => !unseen), ...spokenSources(), ...legacySources().filter(({ name }) => !TWOFOLD.test(name)))
  if (values.shared !== undefined && existsSync(values.shared)) out.push(...await sharedSources(resolve(values.shared), scratch))
  const named = [...paths, ...values.also]
  if (named.length > 0) out.push(...await namedSources(named, () => {}))
  return out
}

async function trial({ files }, folder, tell) {
  const places = placesIn(join(folder, 'user'))
  await mkdir(places.codex, { recursive: true, mode: 0o700 })
  await settle(files, places.codex)
  const before = await exports(places, folder)
  await age(places.codex)
  const { status, sessions } = await sessfix(binary, ['repair'], places, folder)
  await age(places.codex)
  const after = await exports(places, folder)
  const library = libraryOf(await rolloutsIn(places.codex))
  const said = [...newestOf(library)].filter(([, { records }]) => records.length > 0)
  const refused = thread => status !== 0 && (sessions.some(session => isRefused(session) && isAbout(session, thread)) || !sessions.some(isRefused))
  const asked = said.filter(([thread]) => !refused(thread))
  for (const [thread] of said.filter(([thread]) => refused(thread))) tell(thread, 'refused', [])
  const answers = await ask(program, places, asked.map(([, rollout]) => askedId(rollout)), providersOf(library))
  for (const [thread, rollout] of asked) {
    const answer = answers.get(askedId(rollout))
    if (rollout.header === undefined && BARE.test(answer.resume)) tell(thread, 'refused', [])
    else tell(thread, 'passed', faultsOf(before.get(thread), after.get(thread), answer))
  }
}

function faultsOf(before, after, answer) {
  if (answer.resume !== null) return [`not resumed: ${answer.resume}`]
  if (answer.request === undefined) return ['no request was sent']
  if (after.openai.status !== 0 || after.openai.messages === undefined) return [`export ends with ${after.openai.status}: ${after.openai.err}`]
  const faults = after.anthropic.status === 0 ? [] : [`export for the other provider ends with ${after.anthropic.status}: ${after.anthropic.err}`]
  if (before !== undefined && !CUT_SHORT.test(before.openai.err) && plain(before.openai.messages) !== plain(after.openai.messages)) faults.push('the export says something else in front of the repair')
  return [...faults, ...differences(after.openai.messages, answer.request, PROMPT)]
}

/** A byte that was no text is a question mark to one reader and a lozenge to another. */
function plain(messages) {
  return JSON.stringify(messages)?.replace(/[?\ufffd]+/g, '?')
}

/** Thread -> its exports. */
async function exports(places, folder) {
  const files = await rolloutsIn(places.codex)
  const out = new Map()
  for (const [thread, { name }] of newestOf(libraryOf(files))) {
    const path = join(places.codex, files.find(file => file.name === name).path)
    const [openai, anthropic] = await Promise.all(['openai', 'anthropic'].map(provider => exported(resolve(binary), path, places, folder, provider)))
    out.set(thread, { openai, anthropic })
  }
  return out
}

function providersOf(library) {
  return [...library.values()].flatMap(({ header }) => typeof header?.model_provider === 'string' ? [header.model_provider] : [])
}
