# shellcheck shell=bash
# shellcheck disable=SC2154 # prefix, and the function fail: of the script that sources this
# Sourced by the benchmarks: huge pages for as long as they run.

pages=/sys/kernel/mm/hugepages/hugepages-2048kB
wanted_pages=768 pages_before='' pages_set=''

# Raises the number of huge pages; cleanup puts it back if nobody else has changed it since.
raise_huge_pages() {
    [ -d $pages ] || fail "this kernel has no 2 MiB huge pages"
    local free
    free=$(cat $pages/free_hugepages)
    if [ "$free" -lt $wanted_pages ]; then
        local total
        total=$(cat $pages/nr_hugepages)
        pages_before=${pages_before:-$total}
        echo $((total + wanted_pages - free)) >$pages/nr_hugepages
        pages_set=$(cat $pages/nr_hugepages)
        free=$(cat $pages/free_hugepages)
        [ "$free" -ge $wanted_pages ] || fail "the kernel found room for $free huge pages of 2 MiB, $wanted_pages are needed"
    fi
    if ! grep -q ' hugetlbfs ' /proc/mounts; then
        mkdir -p /dev/hugepages
        mount -t hugetlbfs none /dev/hugepages
    fi
}

cleanup() {
    rm -rf "/var/run/dpdk/$prefix" "/var/run/dpdk/$prefix"-*
    if [ -n "$pages_set" ] && [ "$(cat $pages/nr_hugepages)" = "$pages_set" ]; then
        echo "$pages_before" >$pages/nr_hugepages
    fi
}
