// Databases that do not tell what the rollouts tell. The client has filled them before.
import { readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CLEAN, Draft, event, kind } from './draft.mjs'

const HISTORY = 'thread_history_1.sqlite'
const STATE = 'state_5.sqlite'

const removed = name => async ({ codex }) => {
  for (const end of ['', '-wal', '-shm']) await rm(join(codex, name + end), { force: true })
}

const garbled = name => async (places) => {
  await removed(name)(places)
  await writeFile(join(places.codex, name), 'This was a database. '.repeat(400))
}

const rollout = change => async ({ codex }, path) => {
  const file = join(codex, path)
  await change(file, new Draft(await readFile(file)))
}

const lived = (name, damage, more) => kind(name, 'ferry', undefined, { ...more, lived: true, damage })

export const databases = [
  lived('history-ahead', rollout((file, draft) => truncate(file, draft.offset(draft.places(event('task_started')).at(-1)))), { asIs: /is shown and not on record/ }),
  lived('history-of-other-words', rollout((file, draft) => {
    const text = draft.bytes().toString().replaceAll('At ten past six.', 'At ten past two.')
    return writeFile(file, text)
  }), { asIs: /is shown with other words/, unseen: true }), // a log that was edited by hand, and is whole
  lived('history-gone', removed(HISTORY), { verdict: CLEAN }),
  lived('history-garbled', garbled(HISTORY), { asIs: /not resumed.*not a database/ }),
  lived('state-gone', removed(STATE), { verdict: CLEAN }),
  lived('state-garbled', garbled(STATE)),
]
