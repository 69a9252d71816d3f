// Proves the repair of one killed session: with the real client as for every other session, and by what the commands left
// behind, which know better than the transcript what ran.
import { copyFile, mkdir, readFile, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { agentFiles } from './lead.mjs'
import { wholeRecords } from './records.mjs'
import { run } from './run.mjs'
import { badlyAnswered, unnoted } from './tail.mjs'
import { age, differences, runTrial, settle, treeOf } from './trial.mjs'
import { wantedOf } from './wanted.mjs'

/** Faults. `place` is where the client was killed, `ran` are the calls that began there. */
export async function faultsOfRepair(binary, place, ran, folder) {
  if (wantedOf(wholeRecords(await readFile(place.file))).length === 0) return ['nothing was said, so nothing is proved']
  const trial = await runTrial(binary, { file: place.file }, join(folder, 'trial'))
  const faults = trial.outcome === 'refused' ? ['repair refuses', ...trial.faults] : [...trial.faults]
  return [...new Set([...faults, ...await faultsOfAll(binary, place, ran, folder)])]
}

/** Repair a session where the client left it, between two runs. Gives faults. */
export async function repairIn(binary, place) {
  await age(place.home)
  const env = { PATH: process.env.PATH, HOME: place.home, NO_COLOR: '1', TMPDIR: place.tmp }
  const { status, err } = await run(binary, ['repair', '--json', place.file], { env, cwd: place.home, seconds: 60 })
  return status === 0 ? [] : [`repair between two runs ends with ${status}: ${err.slice(0, 200)}`]
}

/** The whole project is repaired, sub-agents and all, with the entry that the killed client left in the registry. */
async function faultsOfAll(binary, place, ran, folder) {
  const home = join(folder, 'all', 'home')
  const file = await settle(place.file, home, place.id)
  const agents = join(dirname(file), place.id, 'subagents')
  const registry = join(home, '.claude', 'sessions')
  await mkdir(registry, { recursive: true })
  for (const name of await readdir(join(place.config, 'sessions')).catch(() => [])) {
    if (/^\d+\.json$/.test(name)) await copyFile(join(place.config, 'sessions', name), join(registry, name))
  }
  const call = async (command) => {
    await age(home)
    const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: '1', TMPDIR: join(folder, 'all') }
    const { status, out, err } = await run(binary, [command, '--json', dirname(file)], { env, cwd: home, seconds: 60 })
    return { status, err, sessions: status === null ? [] : JSON.parse(out).sessions }
  }

  const faults = unnoted(await talkIn(file, agents), (await call('verify')).sessions, file, ran, place.askers)
  const repair = await call('repair')
  if (repair.status !== 0) return [...faults, `repair of the project ends with ${repair.status}: ${repair.err.slice(0, 200)}`]
  const tree = await treeOf(home)
  const alone = await readFile(join(folder, 'trial', 'sessfix', 'home', '.claude', 'projects', '-home-dev-project', `${place.id}.jsonl`))
  if (!alone.equals(await readFile(file))) faults.push('repair of the project gives another transcript than repair of the file')
  for (const [path, records] of await talkIn(file, agents)) faults.push(...badlyAnswered(records, ran).map(text => path === file ? text : `sub-agent: ${text}`))
  const again = await call('repair')
  if (again.status !== 0) faults.push(`a second repair ends with ${again.status}: ${again.err.slice(0, 200)}`)
  faults.push(...differences(tree, await treeOf(home)).map(text => `a second repair ${text}`))
  const after = await call('verify')
  if (after.status !== 0) faults.push(`verify ends with ${after.status} after the repair`)
  return faults
}

/** Path -> records, of the session and its sub-agents. */
async function talkIn(file, agents) {
  const files = [file, ...await agentFiles(agents)]
  return new Map(await Promise.all(files.map(async path => [path, wholeRecords(await readFile(path))])))
}
