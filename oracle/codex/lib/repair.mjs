// Lets sessfix verify and repair a home, and holds what it did to the files against what it may do.
import { isAbout, isRefused, sessfix } from './binary.mjs'
import { age, changesOf, rolloutsIn, treeOf } from './home.mjs'
import { badLines, lostRecords, movedLines } from './kept.mjs'
import { libraryOf, newestOf } from './rollouts.mjs'

/** { faults, refused, offers, over }: threads that were refused, codes that repair offers to accept, and whether nothing more can be said. */
export async function repair(binary, { verdict }, places, folder, { input, healthy }) {
  const call = async (command) => {
    await age(places.codex)
    return sessfix(binary, [command], places, folder)
  }
  const changes = async since => changesOf(since, await treeOf(places.codex))
  const over = (...faults) => ({ faults, refused: [], offers: [], over: true })

  const before = await treeOf(places.codex)
  const verify = await call('verify')
  const faults = (await changes(before)).map(({ path, how }) => `verify: ${how} ${path}`)
  if (![0, 1, 3].includes(verify.status)) return over(...faults, `verify ends with ${verify.status}: ${verify.err}`)
  if (verdict === 'clean' && verify.status !== 0) faults.push(`verify ends with ${verify.status} on healthy files`)

  const first = await call('repair')
  if (first.status !== 0 && first.status !== 3) return over(...faults, `repair ends with ${first.status}: ${first.err}`)
  const refused = first.status === 0 ? [] : refusedIn(first.sessions, input)
  if (refused.length > 0 && verdict === 'repairable') faults.push('refused, and there is a safe repair')
  if (refused.length === 0 && verdict === 'refuse') faults.push('not refused, and there is no safe repair')
  for (const { path, how } of await changes(before)) {
    if (verify.status === 0) faults.push(`verify found nothing, repair: ${how} ${path}`)
    else if (refused.some(thread => path.includes(thread))) faults.push(`refused, but ${how} ${path}`)
    else if (how === 'added' && !before.has(`${path}.zst`)) faults.push(`repair left ${path} behind`)
  }

  const once = await treeOf(places.codex)
  const second = await call('repair')
  if (second.status !== first.status) faults.push(`a second repair ends with ${second.status}: ${second.err}`)
  faults.push(...(await changes(once)).map(({ path, how }) => `a second repair: ${how} ${path}`))
  const last = await call('verify')
  if (last.status !== first.status) faults.push(`verify ends with ${last.status} after the repair`)
  const output = libraryOf(await rolloutsIn(places.codex))
  const mended = library => without(library, refused)
  faults.push(...lostRecords(mended(input), output, first.sessions), ...movedLines(mended(healthy ?? input), input, output), ...badLines(mended(output)))
  const offers = first.sessions.filter(isRefused).flatMap(session => session.offers ?? []).map(({ code }) => code)
  return { faults, refused, offers: [...new Set(offers)] }
}

/** { faults, done }: all offers are taken; the threads that are mended by that. */
export async function accept(binary, offers, places, folder, { input, refused }) {
  await age(places.codex)
  const { status, err, sessions } = await sessfix(binary, ['repair', ...offers.map(code => `--accept=${code}`)], places, folder)
  if (status !== 0 && status !== 3) return { faults: [`repair ends with ${status}: ${err}`], done: [] }
  const still = status === 0 ? [] : refusedIn(sessions, input)
  const output = libraryOf(await rolloutsIn(places.codex))
  const done = refused.filter(thread => !still.includes(thread))
  const rest = [...newestOf(input).keys()].filter(thread => !done.includes(thread))
  return { faults: [...lostRecords(without(input, rest), output, sessions), ...badLines(without(output, rest))], done }
}

const without = (library, threads) => new Map([...library].filter(([, { thread }]) => !threads.includes(thread)))

/** By the report; all of them where it does not say. */
function refusedIn(sessions, input) {
  const threads = [...newestOf(input).keys()]
  const named = threads.filter(thread => sessions.some(session => isRefused(session) && isAbout(session, thread)))
  return named.length > 0 ? named : threads
}
