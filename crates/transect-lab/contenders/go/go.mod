module walk

go 1.19
