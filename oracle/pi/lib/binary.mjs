// Runs the program under test in a home.
import { environment } from './client.mjs'
import { run } from './processes.mjs'

/** { status, err, report, sessions }: those of the report, none where there is none. */
export async function sessfix(binary, place, command, file, options = []) {
  const { PATH, HOME, TMPDIR, LANG, TZ } = environment(place)
  const { status, out, err } = await run(binary, [command, '--json', ...options, file], { env: { PATH, HOME, TMPDIR, LANG, TZ, NO_COLOR: '1' }, cwd: place.home })
  const report = reportIn(out)
  return { status, err: err.slice(0, 200), report, sessions: report.sessions ?? [] }
}

function reportIn(out) {
  try {
    return JSON.parse(out)
  } catch {
    return {}
  }
}
