// Runs the program under test in a home.
import { environment } from './client.mjs'
import { run } from './processes.mjs'

/** { status, err, sessions }: those of the report, none where there is none. */
export async function sessfix(binary, place, command, file) {
  const { PATH, HOME, TMPDIR, LANG, TZ } = environment(place)
  const { status, out, err } = await run(binary, [command, '--json', file], { env: { PATH, HOME, TMPDIR, LANG, TZ, NO_COLOR: '1' }, cwd: place.home })
  return { status, err: err.slice(0, 200), sessions: sessionsIn(out) }
}

function sessionsIn(out) {
  try {
    return JSON.parse(out).sessions ?? []
  } catch {
    return []
  }
}
