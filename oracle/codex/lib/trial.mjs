// One home with its sessions: sessfix repairs it, then the client is asked about every thread.
import { cp, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ask, PROMPT, visit } from './ask.mjs'
import { findProgram, placesIn } from './client.mjs'
import { faultsOf } from './compare.mjs'
import { historyOf } from './history.mjs'
import { age, rolloutsIn, settle } from './home.mjs'
import { badLines, rewritten, wordsOf } from './kept.mjs'
import { accept, repair } from './repair.mjs'
import { askedId, baseOf, libraryOf, newestOf } from './rollouts.mjs'
import { wantedOf } from './wanted.mjs'

/**
 * { outcome: 'passed' | 'refused' | 'failed', faults }. A source is { name, files, healthy, verdict, lived, damage } or { places }: the
 * damaged files; those before the damage, if they tell what is wanted; what verify must say, if that is certain. Where the client has
 * `lived` in the home before, `damage(places)` comes after. Or else the places of a home as it is. Without a `binary` nothing is repaired.
 *
 * All is done in one home: the client's databases know its rollouts by their whole paths, and a copy would read those of the original.
 */
export async function runTrial(binary, source, folder) {
  const places = source.places ?? await prepare(source, placesIn(join(folder, 'sessfix')))
  await age(places.codex)
  const input = libraryOf(await rolloutsIn(places.codex))
  const healthy = source.healthy && libraryOf(source.healthy)
  const threads = childrenFirst(healthy ?? input)
  const wanted = wantedIn(input, healthy)
  if (binary === undefined) return verdict('passed', [...badLines(input), ...await askAll(places, threads, wanted)])

  const { faults, refused, offers, over } = await repair(binary, source, places, folder, { input, healthy })
  if (over) return verdict('failed', faults)
  const saved = join(folder, 'saved')
  if (offers.length > 0) await cp(places.codex, saved, { recursive: true, preserveTimestamps: true })
  const said = new Set([...input.values()].filter(({ records }) => records.length > 0).map(({ thread }) => thread))
  faults.push(...await askAll(places, threads.filter(thread => said.has(thread) && !refused.includes(thread)), wanted))
  if (offers.length > 0) {
    await rm(places.codex, { recursive: true })
    await rename(saved, places.codex)
    faults.push(...await tryOffers(binary, offers, places, folder, { input, refused }))
  }
  return verdict(refused.length > 0 ? 'refused' : 'passed', faults)
}

/** What an offer takes away it puts aside. What it leaves the client must read. */
async function tryOffers(binary, offers, places, folder, { input, refused }) {
  const { faults, done } = await accept(binary, offers, places, folder, { input, refused })
  const output = libraryOf(await rolloutsIn(places.codex))
  faults.push(...await askAll(places, childrenFirst(output).filter(thread => done.includes(thread)), wantedIn(output)))
  return faults.map(fault => `--accept ${offers}: ${fault}`)
}

const verdict = (outcome, faults) => ({ outcome: faults.length > 0 ? 'failed' : outcome, faults })

async function prepare({ files, lived, damage }, places) {
  await mkdir(places.codex, { recursive: true, mode: 0o700 })
  await settle(files, places.codex)
  if (lived) {
    const library = libraryOf(files)
    await visit(await findProgram(), places, [...newestOf(library).keys()], providersOf(library))
  }
  await damage?.(places)
  return places
}

/** A parent grows with the turn that it is asked for, and must not be long enough for its children by that. */
function childrenFirst(library) {
  const depth = rollout => rollout === undefined ? 0 : 1 + depth(library.get(baseOf(rollout)?.thread_id))
  const order = rollout => historyOf(library, rollout).broken ? 1 : depth(rollout)
  return [...newestOf(library)].sort(([, a], [, b]) => order(b) - order(a)).map(([thread]) => thread)
}

/** Thread -> what must be sent. Of the healthy history that is what is still whole somewhere in the damaged files. */
function wantedIn(input, healthy) {
  const whole = new Set([...input.values()].flatMap(rollout => rollout.records.map(wordsOf)))
  const left = records => healthy === undefined ? records : records.filter(record => whole.has(wordsOf(record)))
  return new Map([...newestOf(healthy ?? input)].map(([thread, rollout]) => {
    const { own, inherited } = historyOf(healthy ?? input, rollout)
    return [thread, wantedOf({ own: left(own), inherited: left(inherited) })]
  }))
}

async function askAll(places, threads, wanted) {
  const before = libraryOf(await rolloutsIn(places.codex))
  const newest = newestOf(before)
  const idOf = thread => newest.has(thread) ? askedId(newest.get(thread)) : thread
  const answers = await ask(await findProgram(), places, threads.map(idOf), providersOf(before))
  const faults = threads.flatMap((thread) => {
    const own = faultsOf(wanted.get(thread), answers.get(idOf(thread)), PROMPT)
    return threads.length > 1 ? own.map(fault => `${thread}: ${fault}`) : own
  })
  return [...faults, ...rewritten(before, libraryOf(await rolloutsIn(places.codex)))]
}

function providersOf(library) {
  return [...library.values()].flatMap(({ header }) => typeof header?.model_provider === 'string' ? [header.model_provider] : [])
}
