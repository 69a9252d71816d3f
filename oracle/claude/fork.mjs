// node fork.mjs BIN [--shared DIR] [--also PATH…] [--client PROGRAM] [--jobs N] [--every N] [--only WORD] [--keep DIR]: lets BIN
// fork each healthy session at each place, and the real client go on in each child. One line for each fault; the last line
// counts places. Exit 1 when one failed. --client is another release: its cli.js, or its binary.
import { existsSync } from 'node:fs'
import { cp, readFile, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { begin } from './lib/begin.mjs'
import { resume } from './lib/client.mjs'
import { faultsOf } from './lib/compare.mjs'
import { eachOf } from './lib/each.mjs'
import { itemsOfAll } from './lib/items.mjs'
import { placesIn, textsBehind } from './lib/places.mjs'
import { plainRecords } from './lib/records.mjs'
import { run } from './lib/run.mjs'
import { namedSources, sharedSources } from './lib/sources.mjs'
import { age, differences, settle, treeOf } from './lib/trial.mjs'
import { wantedOf } from './lib/wanted.mjs'

const { values, binary, more, jobs, program, verify, scratch } = await begin('fork')

const NO_ID = '00000000-0000-4000-8000-000000000001'
/** What a copy need not share with the client's: it is a child of its own, made elsewhere, and says whose copy it is in another way. */
const OWN = new Set(['sessionId', 'cwd', 'gitBranch', 'version', 'promptId', 'parentUuid', 'forkedFrom', 'requestSessionId', 'entrypoint', 'slug'])
const tally = { passed: 0, failed: 0 }
const shared = values.shared !== undefined && existsSync(values.shared) ? await sharedSources(resolve(values.shared), scratch) : []
const sources = [...shared, ...await namedSources([...values.also, ...more])].filter(source => source.name.includes(values.only))
const trials = []
for (const [n, source] of sources.entries()) trials.push(...await trialsOf(source, join(scratch, String(n).padStart(3, '0'))))
const some = trials.filter((_, n) => n % Number(values.every) === 0)
await eachOf(some, jobs, async (trial, n) => {
  const folder = join(scratch, `trial-${String(n).padStart(4, '0')}`)
  const faults = await trial.run(folder, n).catch(error => [`no verdict: ${error.message}`])
  tally[faults.length > 0 ? 'failed' : 'passed'] += 1
  for (const fault of faults) console.log(`FAIL ${trial.name}: ${fault}`)
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
console.log(`fork: ${tally.passed} passed, ${tally.failed} failed`)
process.exit(tally.failed > 0 || tally.passed === 0 ? 1 : 0)

/** One trial for each place of a session that verify calls clean, and one that the list of its places is right. */
async function trialsOf(source, folder) {
  const input = await readFile(source.file)
  const id = /"sessionId":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/.exec(input.toString('latin1'))?.[1] ?? NO_ID
  const home = join(folder, 'home')
  const file = await settle(source.file, home, id)
  await age(home)
  if ((await call(home, [...verify, file])).status !== 0) return []
  const { out, err } = await call(home, ['fork', '--list', '--json', file])
  const places = JSON.parse(out || '{}').places ?? []
  const { must, never } = placesIn(input)
  const legal = places.filter(place => place.legal)
  const of = { home, id, file: relative(home, file), input }
  return [
    {
      name: `${source.name} list`,
      run: async () => [
        ...places.filter(place => place.legal && never.includes(place.line)).map(place => `line ${place.line} is listed as a place: ${err}`),
        ...places.filter(place => !place.legal && (must.includes(place.line) || !place.open)).map(place => `line ${place.line} is no place, it says: ${place.open}`),
      ],
    },
    ...legal.length > 0 ? [{ name: `${source.name} as the client forks it`, run: to => likeTheClient(of, legal.at(-1), to) }] : [],
    ...legal.map(place => ({ name: `${source.name} line ${place.line}`, run: (to, n) => born(of, place, to, n) })),
    ...places.filter(place => place.closable).map(place => ({ name: `${source.name} line ${place.line} closed`, run: (to, n) => born(of, place, to, n) })),
    ...[...never.map(line => ['--at', `line:${line}`]), ['--at', `line:${legal[0]?.line ?? 1}`, '--before']].map(at => ({
      name: `${source.name} ${at.join(' ')}`, run: to => refused(of, at, to),
    })),
  ]
}

/** A child is made, its parent stays as it was, and the client goes on where the parent was cut. */
async function born({ home: from, id, file, input }, place, folder, n) {
  const home = join(folder, 'home')
  await cp(from, home, { recursive: true })
  await age(home)
  const before = await treeOf(home)
  const child = `${String(n).padStart(8, '0')}-1111-4111-8111-111111111111`
  const { status, out, err } = await call(home, ['fork', '--json', '--at', `line:${place.line}`, '--id', child, ...place.legal ? [] : ['--close'], join(home, file)])
  if (status !== 0) return [`fork ends with ${status}: ${err || JSON.parse(out || '{}').refusal}`]
  const own = join(dirname(file), `${child}.jsonl`)
  const faults = differences(before, await treeOf(home)).filter(text => text !== `left behind ${own}`).map(text => `fork ${text}`)
  const made = await readFile(join(home, own)).catch(() => undefined)
  if (made === undefined) return [...faults, `there is no ${own}`]
  const records = plainRecords(made)
  faults.push(...records.filter(record => 'sessionId' in record && record.sessionId !== child).map(record => `a ${record.type} is of session ${record.sessionId}`))
  // What ends inside of an answer has only what stands in front of the cut, and what was told anew of that.
  const all = plainRecords(input)
  const front = new Set(plainRecords(Buffer.from(input.toString('latin1').split('\n').slice(0, place.line).join('\n'), 'latin1')).map(record => record.uuid))
  const wanted = wantedOf(place.legal ? all : all.filter(record => front.has(record.uuid)), place.id)
  if (wanted.length === 0) return [...faults, 'nothing is said in front of the place']
  // Each way to find it in its turn: by its id, and as the one that was written last.
  const resumed = await resume(folder, child, { program, newest: n % 2 === 1 })
  const behind = textsBehind(input, wanted)
  const sent = itemsOfAll(resumed.requests.find(request => request.main)?.messages ?? [])
  return [
    ...faults, ...faultsOf(wanted, resumed),
    ...sent.filter(item => 'text' in item && behind.has(item.text.trim())).map(item => `what stands behind the place is sent: ${item.text.slice(0, 80)}`),
  ]
}

/** Of the parent's records the client's own child has none that ours lacks, or has in other words. */
async function likeTheClient({ home: from, id, file, input }, place, folder) {
  const home = join(folder, 'home')
  await cp(from, home, { recursive: true })
  await age(home)
  const child = '22222222-1111-4111-8111-111111111111'
  const { status, err } = await call(home, ['fork', '--at', `line:${place.line}`, '--id', child, join(home, file)])
  if (status !== 0) return [`fork ends with ${status}: ${err}`]
  const ours = new Map(plainRecords(await readFile(join(home, dirname(file), `${child}.jsonl`))).map(record => [record.uuid, record]))
  const client = join(folder, 'client')
  await cp(join(from, '.claude', 'projects'), join(client, 'home', '.claude', 'projects'), { recursive: true, preserveTimestamps: true })
  const { made, err: said } = await resume(client, id, { program, fork: true })
  if (made.length !== 1) return [`the client makes ${made.length} children: ${said.slice(0, 200)}`]
  const parent = new Set(plainRecords(input).map(record => record.uuid))
  const theirs = plainRecords(await readFile(join(client, 'home', '.claude', 'projects', made[0]))).filter(record => record.uuid !== undefined && parent.has(record.uuid))
  if (theirs.length === 0) return ['the child of the client has nothing of its parent']
  return theirs.flatMap((record) => {
    const own = ours.get(record.uuid)
    // What hangs under the last word and says nothing may stay behind.
    if (own === undefined && record.type !== 'user' && record.type !== 'assistant') return []
    if (own === undefined) return [`the client copies a ${record.type} that is not in the child: ${record.uuid}`]
    const other = [...new Set([...Object.keys(record), ...Object.keys(own)])].filter(name => !OWN.has(name) && !isDeepStrictEqual(uncounted(record[name]), uncounted(own[name])))
    return other.length > 0 ? [`a ${record.type} is not as the client copies it: ${other}`] : []
  })
}

/** The client counts what a compaction keeps as costing nothing, and writes no half of a surrogate pair. */
function uncounted(member) {
  return JSON.parse(JSON.stringify(member ?? null, (name, value) => name === 'usage' ? undefined : typeof value === 'string' ? value.toWellFormed() : value))
}

/** No child is made, and it says why. */
async function refused({ home: from, file }, at, folder) {
  const home = join(folder, 'home')
  await cp(from, home, { recursive: true })
  await age(home)
  const before = await treeOf(home)
  const { status, out } = await call(home, ['fork', '--json', ...at, join(home, file)])
  const faults = differences(before, await treeOf(home)).map(text => `refused, but ${text}`)
  if (status !== 3) faults.push(`it is not refused: status ${status}`)
  if (!JSON.parse(out || '{}').refusal) faults.push('it does not say why')
  return faults
}

function call(home, args) {
  return run(binary, args, { env: { PATH: process.env.PATH, HOME: home, NO_COLOR: '1', TMPDIR: dirname(home) }, cwd: home, seconds: 60 })
}
