// node looker.mjs PACKAGE: a child that lets the client's own session manager open files, one a line of its input, and says what it holds.
// A line is a question: { file, at, branch, fork }. `at` goes to an entry; `branch` makes a session of the way to one, and `fork` makes one of the
// whole file in that folder, both of which are looked at then.
// A damaged file can hang it or make it run out of memory, which its parent sees.
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'

const { SessionManager } = await import(process.argv[2])
for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${encodeURIComponent(JSON.stringify(look(JSON.parse(line))))}\n`)

function look({ file, at, branch, fork }) {
  try {
    const manager = fork === undefined ? SessionManager.open(file) : SessionManager.forkFrom(file, fork, dirname(file))
    if (at !== undefined) manager.branch(at)
    if (branch !== undefined) manager.createBranchedSession(branch)
    const { model, thinkingLevel, messages } = manager.buildSessionContext()
    return { file: manager.getSessionFile(), model, thinkingLevel, messages, leaf: manager.getLeafId(), entries: manager.getEntries().length }
  } catch (error) {
    return { error: String(error?.message ?? error).slice(0, 200) }
  }
}
