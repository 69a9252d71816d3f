// Asks the real clients about a session: both session managers, then the newest client itself, which goes on with it.
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startApi } from './api.mjs'
import { folderOf, placeIn, startClient } from './client.mjs'
import { goOnQuickly } from './guests.mjs'
import { look } from './look.mjs'
import { kill, gather } from './processes.mjs'
import { isHeader, linesOf, moved } from './records.mjs'

export const PROMPT = 'What is next on the list?'
const PATIENCE = 45
const answers = new Map()

/** What a manager holds of these bytes: { messages, leaf, entries, rewrote } or { error }. */
export function shownBy(engine, bytes, folder) {
  return once(`${engine} `, bytes, async () => {
    const place = await placeIn(folder)
    const file = await settle(place, bytes, `${engine}.jsonl`)
    return { ...await look(engine, file, place), rewrote: !(await readFile(file)).equals(bytes) }
  })
}

/**
 * What the newest client sends when it goes on: { status, err, sent, requests, faults }. One that goes from session to session says so
 * quickly; with `afresh` one is started for this session alone, as a person would.
 */
export function resumed(bytes, folder, { afresh = false } = {}) {
  return once(`resumed ${afresh} `, bytes, async () => {
    const quick = afresh ? undefined : await goOnQuickly(place => moved(bytes, place.project), PROMPT, fileIn)
    if (quick !== undefined) {
      const { sent, requests, before, after } = quick
      return { status: 0, err: '', sent, requests, faults: faultsOfWriting(before, after) }
    }
    const place = await placeIn(`${folder}-afresh`)
    return goOn(place, await settle(place, moved(bytes, place.project), 'session.jsonl'))
  })
}

/** The client goes on with a file in its own home. */
export async function goOn(place, file, engine = 'current') {
  const before = await readFile(file)
  const api = await startApi(answer => answer.text('All is done.').end())
  const client = await startClient(engine, place, api, ['--session', file, '-p', PROMPT])
  const [, err] = [client.stdout, client.stderr].map(gather)
  const timer = setTimeout(kill, PATIENCE * 1000, client.pid)
  const status = await client.ended
  clearTimeout(timer)
  api.close()
  return { status, err: (await err).slice(0, 200), sent: api.requests[0] ?? [], requests: api.requests.length, faults: faultsOfWriting(before, await readFile(file)) }
}

/** It appends, and does nothing else. */
function faultsOfWriting(before, after) {
  if (isOld(before)) return []
  const faults = after.subarray(0, before.length).equals(before) ? [] : ['the client writes the file anew']
  if (linesOf(after).slice(linesOf(before).length).some(({ value }) => value === undefined)) faults.push('the client writes behind an unfinished line')
  return faults
}

/** Older generations the client writes anew when it opens them. */
export function isOld(bytes) {
  const header = linesOf(bytes).find(({ value }) => isHeader(value))
  return header !== undefined && !(header.value.version >= 3)
}

async function settle(place, bytes, name) {
  const file = await fileIn(place, name)
  await writeFile(file, bytes)
  return file
}

async function fileIn(place, name) {
  const folder = join(place.sessions, folderOf(place.project))
  await mkdir(folder, { recursive: true })
  return join(folder, name)
}

/** Of the same bytes nobody is asked twice. */
function once(question, bytes, ask) {
  const key = question + createHash('sha256').update(bytes).digest('hex')
  if (!answers.has(key)) answers.set(key, ask())
  return answers.get(key)
}
