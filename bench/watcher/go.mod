module binnacle/bench/watcher

go 1.26
