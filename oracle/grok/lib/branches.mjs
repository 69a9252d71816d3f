// Lets sessfix fork a session at each of its places, and asks the real client about each child. At the end of a turn the client forks it
// too, and both children must be the same.
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { startApi } from './api.mjs'
import { ask } from './ask.mjs'
import { tell } from './binary.mjs'
import { PROGRAM, groupOf, openClient, optionsOf, placesIn } from './client.mjs'
import { answerFaults } from './trial.mjs'
import { changesOf, settle, treeOf } from './home.mjs'
import { linesOf } from './lines.mjs'
import { run } from './processes.mjs'
import { HISTORY, LOG, SUMMARY } from './session.mjs'

/** What sessfix leaves out, and the client makes, or keeps for itself. */
const THEIRS = /^usage\.json$|\.lock$/
/** Named anew in each session, or written when it is made. */
const FRESH = new Set(['created_at', 'updated_at', 'forked_at', 'attempt_id', 'agent_id', 'grok_home'])

/** Calls report(place, faults) for each place. { children, refused } are how many of them were forked, and not. */
export async function forkFaults(binary, { files, open }, folder, every, report) {
  const { id, cwd: elsewhere } = JSON.parse(files.get(SUMMARY)).info
  const old = valuesOf(files.get(HISTORY) ?? Buffer.alloc(0)).some(({ type }) => type === undefined)
  const places = placesIn(folder)
  const cwd = places.project // the client lists the sessions of the folder that it works in
  await mkdir(places.home, { recursive: true })
  const session = join(groupOf(places, cwd), id)
  await settle(new Map([...files].map(([name, bytes]) => [name, moved(bytes, elsewhere, cwd)])), session)
  const sessions = join(places.grok, 'sessions')
  const list = await tell(binary, ['fork', '--list', '--json', session], places)
  const all = list.report?.places ?? []
  if (all.length === 0) return report('list', [`no places: ${list.status} ${list.err}`])

  const last = new Map(all.filter(({ legal }) => legal).map(place => [place.turn, place.line]))
  let children = 0
  let refused = 0
  for (const [n, place] of all.entries()) {
    const closing = !place.legal && place.closable
    const name = `line ${place.line}`
    // What is open in the middle of a turn is asked for at some places only: they are all alike.
    if (n % every !== 0 && !(place.legal && last.get(place.turn) === place.line) && !closing) continue
    const start = await treeOf(sessions)
    const made = await tell(binary, ['fork', '--json', '--at', `line:${place.line}`, ...closing ? ['--close'] : [], session], places)
    const then = await treeOf(sessions)
    const changes = changesOf(start, then)
    const faults = changes.filter(({ name: file, how }) => how !== 'added' || join(sessions, file).startsWith(`${session}/`)).map(({ name: file, how }) => `${how} ${file.split('/').slice(2).join('/')}`)
    const child = made.report?.child
    if (!place.legal && !closing) {
      refused += 1
      if (made.status !== 3 || changes.length > 0) faults.push(`not refused: ${made.status} ${made.err}`)
      else if (!(made.report?.refusal?.length > 10)) faults.push('refused without a reason')
      report(name, faults)
      continue
    }
    if (made.status !== 0 || child === undefined) {
      report(name, [...faults, `not forked: ${made.status} ${made.report?.refusal ?? made.err}`])
      continue
    }
    children += 1
    const ours = await treeOf(child.path)
    const verify = await tell(binary, ['verify', '--json', child.path], places)
    if (verify.status !== 0) faults.push(`verify of the child ends with ${verify.status}`)
    if (!open && place.legal && last.get(place.turn) === place.line) faults.push(...await asTheirs(places, { id, cwd, turn: place.turn, old, whole: place.turn === all.at(-1).turn }, ours, session))
    const answer = await ask(places, cwd, child.id, child.path)
    if (answer.refused !== undefined) faults.push(`the client does not go on: ${answer.refused}`)
    else if (answer.sent === undefined) faults.push(`the client sends nothing: ${answer.stopReason}`)
    else {
      faults.push(...taken(answer, ours, old))
      if (!told(answer.sent)) faults.push('the model is not told that the session is a fork')
    }
    if (!await isListed(places, child.id)) faults.push('the client does not list the child')
    report(name, faults)
  }
  if (!open && children > 0) {
    report('worktree', await worktreeFaults(binary, places, { id, cwd, session, old, line: Math.max(...last.values()) }))
    children += 1
  }
  return { children, refused }
}

/** A child that works in a folder of its own, beside the one that the client makes. */
async function worktreeFaults(binary, places, { id, cwd, session, old, line }) {
  for (const args of [['init', '-q'], ['-c', 'user.name=o', '-c', 'user.email=o@localhost', 'commit', '-q', '--allow-empty', '-m', 'o']]) {
    const { status, err } = await run('git', args, optionsOf(places))
    if (status !== 0) return [`git: ${err}`]
  }
  const tree = join(dirname(places.project), 'tree')
  const made = await tell(binary, ['fork', '--json', '--at', `line:${line}`, '--worktree', tree, session], places)
  const child = made.report?.child
  if (child === undefined) return [`not forked: ${made.status} ${made.report?.refusal ?? made.err}`]
  const ours = await treeOf(child.path)
  const faults = await asTheirs(places, { id, cwd, old, whole: true, more: { newCwd: tree, sessionKind: 'worktree', sourceWorkspaceDir: cwd } }, ours, join(groupOf(places, tree), id))
  const answer = await ask({ ...places, project: tree }, tree, child.id, child.path)
  if (answer.sent === undefined) return [...faults, `the client does not go on: ${answer.refused ?? answer.stopReason}`]
  return [...faults, ...taken(answer, ours, old)]
}

/** What is wrong with the client's answer. Of an old session members may be left that it does not know: it loses them when it writes the history anew. */
function taken(answer, ours, old) {
  const faults = answerFaults(answer, { before: ours, after: ours })
  if (!old) return faults
  const [was, is] = [ours, answer.loaded].map(files => valuesOf(files.get(HISTORY)).slice(1))
  const kept = was.length === is.length && is.every((item, n) => isPartOf(item, was[n]))
  return faults.filter(fault => !(kept && fault.startsWith('the client rewrote the history')))
}

function moved(bytes, from, to) {
  let text = bytes.toString('latin1')
  for (const [a, b] of [[encodeURIComponent(from), encodeURIComponent(to)], [from, to]]) text = text.replaceAll(a, b)
  return Buffer.from(text, 'latin1')
}

const told = messages => messages.some(({ content }) => typeof content === 'string' && /fork/i.test(content))

/** Does the client list a session? */
async function isListed(places, id) {
  const { out } = await run(PROGRAM, ['sessions', 'list', '--limit', '1000'], optionsOf(places))
  return out.includes(id)
}

/** The child that the client makes of the same turns. */
async function asTheirs(places, { id, cwd, turn, whole, old, more = {} }, ours, session) {
  const api = await startApi()
  let agent
  try {
    agent = await openClient(places, api.url)
    const { newSessionId } = await agent.call('_x.ai/session/fork', { sourceSessionId: id, sourceCwd: cwd, newCwd: cwd, ...whole ? {} : { targetPromptIndex: turn - 1 }, ...more })
    return differences(ours, await treeOf(join(dirname(session), newSessionId)), { compacted: isInFront(ours), old, id: newSessionId })
  } catch (error) {
    return [`the client does not fork: ${error.message}`]
  } finally {
    agent?.kill()
    await agent?.process.ended.catch(() => {})
    api.close()
  }
}

/** Was the history told anew? Then the client's child knows what was cut off, and ours does not. */
const isInFront = files => files.get(HISTORY).toString().startsWith('{"type":"system","content":""}\n')

function differences(ours, theirs, { compacted, old, id }) {
  const faults = []
  const names = new Set([...ours.keys(), ...theirs.keys()])
  for (const name of names) {
    if (THEIRS.test(name) || name.startsWith('compaction/') && !ours.has(name) && compacted) continue
    // What was announced is forgotten there as here: a file that says nothing is none.
    if (name === 'announcement_state.json' && !ours.has(name)) continue
    if (!ours.has(name)) faults.push(`only the client's child has ${name}`)
    else if (!theirs.has(name)) faults.push(`the client's child has no ${name}`)
    else if (name === SUMMARY) faults.push(...unlike(JSON.parse(ours.get(name)), JSON.parse(theirs.get(name)), compacted || old ? ['num_chat_messages'] : []))
    else if (name === LOG) faults.push(...logFaults(ours.get(name), theirs.get(name), id))
    else if (name === HISTORY) faults.push(...compacted ? [] : itemFaults(ours.get(name), theirs.get(name), old))
    else if (name === 'signals.json') faults.push(...signalFaults(JSON.parse(ours.get(name)), JSON.parse(theirs.get(name))))
    else if (name === 'fork_status.json') faults.push(...same(JSON.parse(ours.get(name)), JSON.parse(theirs.get(name))) ? [] : [`${name} differs`])
    else if (!ours.get(name).equals(theirs.get(name)) && !same(orNothing(ours.get(name)), orNothing(theirs.get(name)))) faults.push(`${name} differs`)
  }
  return faults
}

const orNothing = (bytes) => { try { return JSON.parse(bytes) } catch { return bytes.toString() } }
const sorted = value => value !== null && typeof value === 'object' ? Array.isArray(value) ? value.map(sorted) : Object.fromEntries(Object.keys(value).sort().filter(key => value[key] !== null).map(key => [key, sorted(value[key])])) : value
const same = (a, b) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))

const isPartOf = (part, all) => Object.keys(part).every(key => same(part[key], all[key] ?? null))

/** Counters of which some are missing the client does not read: it copies them as they are. */
const signalFaults = (ours, theirs) => !('errorCount' in theirs) || same(ours, theirs) ? [] : ['signals.json differs']

function unlike(ours, theirs, others) {
  const faults = []
  for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    if (FRESH.has(key) || key === 'info' || others.includes(key)) continue
    if (key === 'num_messages') continue // dead branches count there
    if (!same(ours[key] ?? null, theirs[key] ?? null)) faults.push(`summary: ${key} is ${JSON.stringify(ours[key])}, the client's ${JSON.stringify(theirs[key])}`)
  }
  if (ours.info.cwd !== theirs.info.cwd) faults.push('summary: another folder')
  return faults
}

const valuesOf = bytes => linesOf(bytes).flatMap(({ value }) => value ?? [])

/** The client's log of a whole session holds dead branches too: ours must be part of it, in its order. */
function logFaults(ours, theirs, id) {
  const key = ({ method, params }) => JSON.stringify(sorted({ method, params: { ...params, sessionId: id } }))
  const want = valuesOf(theirs).filter(({ params }) => params !== undefined).map(key)
  let at = 0
  for (const line of valuesOf(ours).map(value => value.params === undefined ? { method: 'session/update', params: value } : value)) {
    const found = want.indexOf(key(line), at)
    if (found < 0) return [`the log holds what the client's does not: ${JSON.stringify(line).slice(0, 120)}`]
    at = found + 1
  }
  return []
}

/** Items are as the client reads them. What it does not read of the first form, and then leaves out, ours has more. */
function itemFaults(ours, theirs, old) {
  const a = valuesOf(ours)
  const b = valuesOf(theirs)
  if (old) return b.flatMap(item => a.some(own => own.type === item.type && isPartOf(item, own)) ? [] : [`the history lacks an item of the client's: ${JSON.stringify(item).slice(0, 120)}`])
  if (a.length !== b.length) return [`the history holds ${a.length} items, the client's ${b.length}`]
  const n = a.findIndex((item, i) => !same(item, b[i]))
  return n < 0 ? [] : [`item ${n + 1} of the history is not as the client's: ${JSON.stringify(a[n]).slice(0, 120)}`]
}

