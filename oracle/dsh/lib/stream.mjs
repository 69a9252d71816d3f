// Stands in for one class that the v1-to-v2 edge wants from a build nobody published: it folds the
// chunks of one assistant attempt into the stream records of version 2. Deltas of one block share a
// record; anything else is a record of its own.
const RUNS = {
  'text-delta': { type: 'text-chunks', list: 'texts', value: chunk => chunk.text },
  'reasoning-delta': { type: 'reasoning-chunks', list: 'texts', value: chunk => chunk.text },
  'tool-call-delta': { type: 'tool-call-chunks', list: 'args', value: chunk => chunk.argumentsDelta },
}

export class AssistantStreamAccumulator {
  records = []
  lastTime = 0

  push({ time, chunk }) {
    const run = chunk.id === '' || chunk.name === '' ? undefined : RUNS[chunk.type]
    if (run === undefined) this.records.push({ type: 'chunk', time, chunk })
    else this.#extend(run, time, chunk)
    this.lastTime = time
  }

  #extend(run, time, chunk) {
    const open = this.records.at(-1)
    const same = open?.type === run.type && ['index', 'id', 'name'].every(key => open[key] === chunk[key])
    if (same) {
      open.dt.push(time - this.lastTime)
      open[run.list].push(run.value(chunk))
      return
    }
    const names = Object.fromEntries(['id', 'name'].filter(key => key in chunk).map(key => [key, chunk[key]]))
    this.records.push({ type: run.type, time0: time, index: chunk.index, dt: [], ...names, [run.list]: [run.value(chunk)] })
  }

  snapshot() {
    return structuredClone(this.records)
  }
}
