package cmd

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// inOrder runs work for n items, jobs at once, and hands the results to done in order.
func inOrder[T any](ctx context.Context, n, jobs int, work func(i int) T, done func(i int, v T)) {
	results := make([]T, n)
	ready := make([]chan struct{}, n)
	for i := range ready {
		ready[i] = make(chan struct{})
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(jobs, n) {
		wg.Go(func() {
			for i := range next {
				results[i] = work(i)
				close(ready[i])
			}
		})
	}
	go func() {
		defer close(next)
		for i := range n {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	for i := range n {
		select {
		case <-ready[i]:
			done(i, results[i])
			var zero T
			results[i] = zero
		case <-ctx.Done():
			wg.Wait()
			return
		}
	}
	wg.Wait()
}

// inWaves is inOrder for work of which some must wait until other is done: what has a smaller rank comes first.
func inWaves[T any](ctx context.Context, ranks []int, jobs int, work func(i int) T, done func(i int, v T)) {
	waves := map[int][]int{}
	for i, r := range ranks {
		waves[r] = append(waves[r], i)
	}
	if len(waves) < 2 {
		inOrder(ctx, len(ranks), jobs, work, done)
		return
	}
	results := make([]T, len(ranks))
	for _, r := range slices.Sorted(maps.Keys(waves)) {
		wave := waves[r]
		inOrder(ctx, len(wave), jobs, func(i int) T { return work(wave[i]) }, func(i int, v T) { results[wave[i]] = v })
		if ctx.Err() != nil {
			return
		}
	}
	for i, v := range results {
		done(i, v)
	}
}
