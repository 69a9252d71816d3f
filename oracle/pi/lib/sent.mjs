// What sessfix exports as messages, against what the clients send of the same session.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { PROMPT, resumed, shownBy } from './ask.mjs'
import { sessfix } from './binary.mjs'
import { PACKAGES, environment, placeIn } from './client.mjs'
import { itemsOfBlocks, itemsOfChat, itemsOfClient, listFaults, without } from './lists.mjs'
import { run } from './processes.mjs'
import { settle } from './trial.mjs'

const RELEASES = { current: '1.6.0', legacy: '0.73.1' }
const converters = {}

/** Faults; undefined where sessfix refuses to mend the session. */
export async function messageFaults(binary, source, folder) {
  const place = await placeIn(join(folder, 'sessfix'))
  const file = await settle(place, source.bytes, source.healthy)
  const before = await exported(binary, place, file, 'openai')
  const mended = await sessfix(binary, place, 'repair', file)
  if (mended.status === 3) return undefined
  if (mended.status !== 0) return [`repair ends with ${mended.status}: ${mended.err}`]
  const bytes = await readFile(file)
  const after = await exported(binary, place, file, 'openai')
  const faults = [...before.faults, ...after.faults]
  if (faults.length > 0) return faults
  if (!isDeepStrictEqual(before.list, after.list)) faults.push(...listFaults(itemsOfChat(after.list), itemsOfChat(before.list)).map(fault => `the damaged session is exported otherwise than the repaired one: ${fault}`))
  if (!(await readFile(file)).equals(bytes)) faults.push('export changed the file')
  for (const engine of ['current', 'legacy']) {
    const { error, messages } = await shownBy(engine, bytes, join(folder, engine))
    if (error !== undefined) return [...faults, `${engine} does not open it: ${error}`]
    const own = await exported(binary, place, file, 'anthropic', ['--client', RELEASES[engine]])
    const wanted = itemsOfClient((await converter(engine))(messages))
    faults.push(...own.faults, ...listFaults(wanted, itemsOfBlocks(own.list)).map(fault => `${engine}: ${fault}`))
  }
  // What is held against an export is what a client sends that was started for this session.
  const request = async afresh => resumed(bytes, join(folder, 'resumed'), { afresh })
  const sentFaults = ({ status, err, sent }) => status !== 0 ? [`the client ends with ${status}: ${err}`] : listFaults(without(PROMPT, itemsOfChat(sent)), itemsOfChat(after.list)).map(fault => `request: ${fault}`)
  if (sentFaults(await request(false)).length > 0) faults.push(...sentFaults(await request(true)))
  return faults
}

/** { list, faults } */
async function exported(binary, place, file, provider, more = []) {
  const { PATH, HOME, TMPDIR, LANG, TZ } = environment(place)
  const { status, out, err } = await run(binary, ['export', '--format', 'messages', '--provider', provider, ...more, file], { env: { PATH, HOME, TMPDIR, LANG, TZ, NO_COLOR: '1' }, cwd: place.home })
  try {
    const list = JSON.parse(out)
    return { list, faults: status === 0 && Array.isArray(list) ? [] : [`export for ${provider} ends with ${status}: ${err.slice(0, 200)}`] }
  } catch {
    return { list: [], faults: [`export for ${provider} ends with ${status}, and what it writes is no JSON: ${err.slice(0, 200)}`] }
  }
}

async function converter(engine) {
  converters[engine] ??= import(PACKAGES[engine]).then(({ convertToLlm }) => convertToLlm)
  return converters[engine]
}
