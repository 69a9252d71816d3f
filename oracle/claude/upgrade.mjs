// node upgrade.mjs BIN [--shared DIR] [--also PATH…] [--client PROGRAM] [--jobs N] [--every N] [--only WORD] [--keep DIR]: lets BIN
// migrate each healthy session, and the real client resume it before and after: it must send the same. One line for each
// fault; the last line counts sessions. Exit 1 when one failed. --client is another release: its cli.js, or its binary.
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { begin } from './lib/begin.mjs'
import { writeAgents } from './lib/agents.mjs'
import { resume } from './lib/client.mjs'
import { faultsOf } from './lib/compare.mjs'
import { eachOf } from './lib/each.mjs'
import { itemsOfAll } from './lib/items.mjs'
import { plainRecords } from './lib/records.mjs'
import { run } from './lib/run.mjs'
import { namedSources, sharedSources } from './lib/sources.mjs'
import { age, differences, settle, treeOf } from './lib/trial.mjs'
import { wantedOf } from './lib/wanted.mjs'

const { values, binary, more, jobs, program, verify, scratch } = await begin('upgrade')

const NO_ID = '00000000-0000-4000-8000-000000000001'
const tally = { passed: 0, failed: 0 }
let changed = 0
const shared = values.shared !== undefined && existsSync(values.shared) ? await sharedSources(resolve(values.shared), scratch) : []
const sources = [...shared, ...await namedSources([...values.also, ...more]), { name: 'sub-agents of 2.0.76', make: writeAgents }]
await eachOf(sources.filter(({ name }, n) => name.includes(values.only) && n % Number(values.every) === 0), jobs, async (source, n) => {
  const folder = join(scratch, String(n).padStart(3, '0'))
  const faults = await trial(source, folder).catch(error => [`no verdict: ${error.message}`])
  if (faults !== undefined) tally[faults.length > 0 ? 'failed' : 'passed'] += 1
  for (const fault of faults ?? []) console.log(`FAIL ${source.name}: ${fault}`)
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
console.log(`upgrade: ${changed} sessions had a step to take`)
console.log(`upgrade: ${tally.passed} passed, ${tally.failed} failed`)
process.exit(tally.failed > 0 || tally.passed === 0 ? 1 : 0)

/** Nothing for a session that verify does not call clean: repair comes first there, and judge.mjs is about that. */
async function trial(source, folder) {
  const home = join(folder, 'sessfix', 'home')
  const project = join(home, '.claude', 'projects', '-home-dev-project')
  let id = NO_ID
  let made
  if (source.make !== undefined) {
    made = await source.make(project, id)
  } else {
    id = /"sessionId":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/.exec(await readFile(source.file, 'latin1'))?.[1] ?? NO_ID
    await settle(source.file, home, id)
  }
  const projects = join(home, '.claude', 'projects')
  const call = async (...args) => {
    await age(home)
    return run(binary, args, { env: { PATH: process.env.PATH, HOME: home, NO_COLOR: '1', TMPDIR: dirname(home) }, cwd: home, seconds: 60 })
  }
  if ((await call(...verify, projects)).status !== 0) return undefined
  const before = await treeOf(home)
  const own = relative(home, join(project, `${id}.jsonl`))
  const faults = []
  const dry = await call('migrate', '--dry-run', projects)
  faults.push(...differences(before, await treeOf(home)).map(text => `dry run ${text}`))
  const wet = await call('migrate', projects)
  const after = await treeOf(home)
  const changes = differences(before, after)
  const due = wet.status === 0 && changes.length > 0 ? 1 : wet.status
  if (dry.status !== due) faults.push(`a dry run ends with ${dry.status}, and the run with ${wet.status}`)
  if (wet.status === 3) return [...faults, ...changes.map(text => `refused, but ${text}`), ...wet.err ? [] : ['refused without a reason']]
  if (wet.status !== 0) return [...faults, `migrate ends with ${wet.status}: ${wet.err.slice(0, 200)}`]
  if (changes.length === 0) return [...faults, ...made === undefined ? [] : ['the logs of sub-agents stay where they are']]
  changed += 1

  faults.push(...made === undefined ? grown(before.get(own), after.get(own), changes, own) : moved(before, after, dirname(own), made, changes))
  if ((await call(...verify, projects)).status !== 0) faults.push('the result is not clean')
  await call('migrate', projects)
  faults.push(...differences(after, await treeOf(home)).map(text => `a second run ${text}`))

  const wanted = wantedOf(plainRecords(before.get(own)))
  if (wanted.length > 0) {
    const was = await asked(before, id, join(folder, 'client'))
    const is = await asked(after, id, join(folder, 'client'))
    faults.push(...faultsOf(wanted, is))
    if (!isDeepStrictEqual(sent(was), sent(is))) faults.push('the client sends something else than before')
  }
  return faults
}

/** What was there stays, and one record comes behind it that names a node of it. */
function grown(before, after, changes, own) {
  const faults = changes.filter(text => text !== `changed ${own}`).map(text => `migrate ${text}`)
  if (!after.subarray(0, before.length).equals(before)) return [...faults, 'old bytes changed']
  const added = plainRecords(after.subarray(before.length))
  const nodes = new Set(plainRecords(before).map(record => record.uuid))
  if (added.length !== 1 || added[0].type !== 'last-prompt' || !nodes.has(added[0].leafUuid)) faults.push(`added is ${JSON.stringify(added).slice(0, 200)}`)
  return faults
}

/** Each log lies where newer clients keep it, as it was, and the one that a call asked for has its header. */
function moved(before, after, dir, { moved, header: [name, content] }, changes) {
  const faults = []
  const expected = [`left behind ${join(dir, name)}`]
  for (const [from, to] of moved) {
    expected.push(`removed ${join(dir, from)}`, `left behind ${join(dir, to)}`)
    if (!after.get(join(dir, to))?.equals(before.get(join(dir, from)))) faults.push(`${to} is not ${from} as it was`)
  }
  faults.push(...changes.filter(text => !expected.includes(text)).map(text => `migrate ${text}`))
  const header = after.get(join(dir, name))
  if (header === undefined || !isDeepStrictEqual(JSON.parse(header.toString()), content)) faults.push(`the header is ${header}`)
  return faults
}

/** The client resumes the session in a home that holds these files. */
async function asked(tree, id, folder) {
  await rm(folder, { recursive: true, force: true })
  for (const [path, bytes] of tree) {
    const to = join(folder, 'home', path)
    await mkdir(dirname(to), { recursive: true })
    await writeFile(to, bytes)
  }
  return resume(folder, id, { program })
}

function sent(resumed) {
  return itemsOfAll(resumed.requests.find(request => request.main)?.messages ?? [])
}
