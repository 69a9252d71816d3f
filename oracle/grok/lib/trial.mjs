// One session in a home of its own: sessfix repairs it, then the client is asked.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PROMPT, ask } from './ask.mjs'
import { groupOf, placesIn } from './client.mjs'
import { inventedFaults, itemsSent, missingFaults, pairingFaults, shownFaults, touchedFaults, wantedItems } from './compare.mjs'
import { settle } from './home.mjs'
import { repair } from './repair.mjs'
import { idOfSession } from './session.mjs'

/** The sessions are those of a folder that is not there: nothing can happen to it. */
export const CWD = '/home/dev/project'

/**
 * { outcome: 'clean' | 'repaired' | 'refused' | 'failed', faults, sent }. A source is { files, healthy, clean, safe }: the damaged files,
 * those before the damage where they are known, whether they are in order, and whether there is a safe repair.
 */
export async function runTrial(binary, source, folder) {
  const places = placesIn(folder)
  await mkdir(places.home, { recursive: true })
  const id = idOfSession(source.healthy ?? source.files)
  const session = join(groupOf(places, CWD), id)
  await settle(source.files, session)
  return judge(binary, places, { ...source, cwd: CWD, id, session })
}

/** The same where the session lies. */
export async function judge(binary, places, { cwd, id, session, ...source }) {
  const { outcome, faults, over, before, after } = await repair(binary, places, session, source)
  if (over) return { outcome, faults }
  const answer = await ask(places, cwd, id, session)
  if (answer.refused !== undefined) faults.push(`the client does not go on: ${answer.refused}`)
  else if (answer.sent === undefined) faults.push(`the client sends nothing: ${answer.stopReason}`)
  else faults.push(...answerFaults(answer, { ...source, before, after }))
  return { outcome: faults.length > 0 ? 'failed' : outcome, faults, sent: answer.sent, before, after }
}

export function answerFaults({ sent, requests, shown, loaded, asked }, { before, after, healthy }) {
  const items = itemsSent(sent)
  const faults = [...pairingFaults(sent), ...inventedFaults(items, before, after), ...missingFaults([...wantedItems(before, healthy), { role: 'user', text: PROMPT }], items)]
  if (requests !== 1) faults.push(`the client asked its model ${requests} times`)
  return [...faults, ...shownFaults(shown, before, after, healthy), ...touchedFaults(after, loaded, asked)]
}
